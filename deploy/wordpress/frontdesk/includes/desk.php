<?php
/**
 * A copy of what the installation has to show: which apps are on, the booking page, services, people and forms. It is asked once a minute at most,
 * for three seconds at most; without an answer the last one counts.
 *
 * @package Frontdesk
 */

namespace Frontdesk;

defined( 'ABSPATH' ) || exit;

/**
 * The copy. It is asked for anew when the last question is older than a minute.
 *
 * @param float $patience Asks anew in any case, and waits for so many seconds.
 * @return array{at: int, error: string, apps: array<string, bool>, booking_page: string, services: list<array<string, mixed>>, staff: list<array<string, mixed>>, forms: list<array<string, mixed>>}
 */
function desk( float $patience = 0 ): array {
	$kept = get_option( OPTION_DESK );
	$kept = is_array( $kept ) && ( $kept['url'] ?? '' ) === options()['url'] ? $kept : array();
	if ( '' !== options()['url'] && ( $patience > 0 || (int) ( $kept['asked'] ?? 0 ) < time() - MINUTE_IN_SECONDS ) ) {
		// Other pages use what is known meanwhile.
		$kept['asked'] = time();
		$kept['url']   = options()['url'];
		update_option( OPTION_DESK, $kept, false );
		$fresh = ask_desk( $patience > 0 ? $patience : PATIENCE );
		$kept  = is_wp_error( $fresh ) ? array_merge( $kept, array( 'error' => $fresh->get_error_message() ) ) : array_merge( $kept, $fresh, array( 'error' => '' ) );
		update_option( OPTION_DESK, $kept, false );
	}
	return array(
		'at'           => (int) ( $kept['at'] ?? 0 ),
		'error'        => (string) ( $kept['error'] ?? '' ),
		'apps'         => (array) ( $kept['apps'] ?? array() ),
		'booking_page' => (string) ( $kept['booking_page'] ?? '' ),
		'services'     => (array) ( $kept['services'] ?? array() ),
		'staff'        => (array) ( $kept['staff'] ?? array() ),
		'forms'        => (array) ( $kept['forms'] ?? array() ),
	);
}

/**
 * Asks the installation: all of the answers, or the first error.
 *
 * @param float $seconds For all calls together.
 * @return array<string, mixed>|\WP_Error
 */
function ask_desk( float $seconds ): array|\WP_Error {
	$end = microtime( true ) + $seconds;
	$key = site_key();
	if ( null === $key ) {
		return new \WP_Error( 'frontdesk_no_key', __( 'The application password is missing or cannot be read any more: enter it again.', 'frontdesk' ) );
	}
	$ask = static function ( string $path ) use ( $end, $key ): mixed {
		$left = $end - microtime( true );
		// A wait of less than a second is made one by the library below.
		return $left < 1 ? new \WP_Error( 'frontdesk_slow', __( 'Frontdesk answers too slowly.', 'frontdesk' ) ) : call( 'GET', $path, $key, null, $left );
	};

	$apps = $ask( '/apps' );
	if ( is_wp_error( $apps ) ) {
		return $apps;
	}
	$on = array();
	foreach ( $apps['items'] ?? array() as $app ) {
		$on[ (string) ( $app['id'] ?? '' ) ] = (bool) ( $app['enabled'] ?? false );
	}
	// Lists of an app that is off are gone; what was known of them stays for the day on which it is on again.
	$known = array(
		'at'   => time(),
		'apps' => $on,
	);
	if ( $on['booking'] ?? false ) {
		$embed    = $ask( '/booking-widget/embed' );
		$services = is_wp_error( $embed ) ? $embed : $ask( '/services' );
		$staff    = is_wp_error( $services ) ? $services : $ask( '/staff' );
		if ( is_wp_error( $staff ) ) {
			return $staff;
		}
		$known['booking_page'] = (string) ( $embed['booking_page'] ?? '' );
		$known['services']     = pick( array_filter( $services['items'] ?? array(), static fn( $s ) => $s['bookable_online'] ?? false ), array( 'id', 'name' ) );
		$known['staff']        = pick( array_filter( $staff['items'] ?? array(), static fn( $s ) => ( $s['services'] ?? array() ) !== array() ), array( 'user_id', 'name' ) );
	}
	if ( $on['forms'] ?? false ) {
		$forms = $ask( '/forms' );
		if ( is_wp_error( $forms ) ) {
			return $forms;
		}
		$known['forms'] = pick( array_filter( $forms['items'] ?? array(), static fn( $f ) => 'publish' === ( $f['status'] ?? '' ) ), array( 'id', 'name' ) );
	}
	return $known;
}

/**
 * Some members of each item.
 *
 * @param array<mixed> $items   The items.
 * @param list<string> $members The names of the members.
 * @return list<array<string, mixed>>
 */
function pick( array $items, array $members ): array {
	return array_values( array_map( static fn( $item ) => array_intersect_key( (array) $item, array_flip( $members ) ), $items ) );
}
