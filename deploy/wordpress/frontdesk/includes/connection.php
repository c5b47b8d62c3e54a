<?php
/**
 * Which installation this website belongs to, and the credentials for it. None of it is autoloaded.
 *
 * @package Frontdesk
 */

namespace Frontdesk;

use WP_Error;

defined( 'ABSPATH' ) || exit;

/** Address and choices of the administrator. */
const OPTION = 'frontdesk';
/** Login and sealed application password of the website, apart from the option that exports may hold. */
const OPTION_KEY = 'frontdesk_key';
/** The last copy of what the installation has to show. */
const OPTION_DESK = 'frontdesk_desk';
/** The abilities that were last known. */
const OPTION_ABILITIES = 'frontdesk_abilities';
/** The hourly look at the abilities. */
const HOOK_REFRESH = 'frontdesk_refresh';

/**
 * The administrator's choices, complete.
 *
 * @return array{url: string, theme: bool, prefill: bool, campaign: bool, rights: array<string, string>}
 */
function options(): array {
	$kept    = get_option( OPTION );
	$kept    = is_array( $kept ) ? $kept : array();
	$default = default_rights();
	$rights  = is_array( $kept['rights'] ?? null ) ? array_intersect_key( $kept['rights'], $default ) : array();
	return array(
		'url'      => is_string( $kept['url'] ?? null ) ? $kept['url'] : '',
		'theme'    => (bool) ( $kept['theme'] ?? true ),
		'prefill'  => (bool) ( $kept['prefill'] ?? true ),
		'campaign' => (bool) ( $kept['campaign'] ?? false ),
		'rights'   => array_merge( $default, array_filter( $rights, 'is_string' ) ),
	);
}

/**
 * The capability of WordPress that each permission of Frontdesk asks for until somebody chooses otherwise.
 *
 * @return array<string, string>
 */
function default_rights(): array {
	return array(
		'svc_view_contacts'       => 'edit_others_posts',
		'svc_edit_contacts'       => 'edit_others_posts',
		'svc_delete_contacts'     => 'delete_others_posts',
		'svc_import_contacts'     => 'import',
		'svc_export_contacts'     => 'export',
		'svc_manage_bookings'     => 'edit_others_posts',
		'svc_manage_forms'        => 'edit_others_pages',
		'svc_manage_integrations' => 'manage_options',
		'svc_manage_crm'          => 'manage_options',
	);
}

/**
 * The address without a slash at its end, or an error. A password travels with each call, so it is https, except on this machine.
 *
 * @param string $typed What was typed.
 */
function clean_address( string $typed ): string|WP_Error {
	$typed = trim( $typed );
	$parts = wp_parse_url( preg_match( '#^[a-z]+://#i', $typed ) ? $typed : "https://$typed" );
	$host  = strtolower( $parts['host'] ?? '' );
	if ( '' === $host || isset( $parts['user'] ) || isset( $parts['query'] ) || isset( $parts['fragment'] ) || preg_match( '/[^a-z0-9.:\[\]_-]/', $host ) ) {
		return new WP_Error( 'frontdesk_address', __( 'Enter the address of your Frontdesk, such as https://desk.example.com.', 'frontdesk' ) );
	}
	$scheme = strtolower( $parts['scheme'] ?? 'https' );
	$here   = in_array( $host, array( 'localhost', '127.0.0.1', '[::1]' ), true );
	if ( 'https' !== $scheme && ! ( 'http' === $scheme && $here ) ) {
		return new WP_Error( 'frontdesk_address', __( 'The address must begin with https://, because a password is sent to it.', 'frontdesk' ) );
	}
	// Somebody may paste the address of the booking page or of the API.
	return "$scheme://$host" . ( isset( $parts['port'] ) ? ':' . (int) $parts['port'] : '' );
}

/**
 * The website's own credential, or null: [login, application password].
 *
 * @return array{0: string, 1: string}|null
 */
function site_key(): ?array {
	return opened( get_option( OPTION_KEY ), 'site' );
}

/**
 * The credential of a WordPress user, or null.
 *
 * @param int $user The user's id.
 * @return array{0: string, 1: string}|null
 */
function user_key( int $user ): ?array {
	return opened( get_user_meta( $user, meta_key(), true ), "user $user" );
}

/**
 * Where login and sealed application password of a WordPress user are kept. The users of a network are those of all its websites, and each website has a
 * connection and a table of rights of its own.
 *
 * @param ?int $site The website; null for the one of now.
 */
function meta_key( ?int $site = null ): string {
	global $wpdb;
	return ( is_multisite() ? $wpdb->get_blog_prefix( $site ) : '' ) . 'frontdesk_key';
}

/**
 * Keeps the website's credential.
 *
 * @param string $login    The login.
 * @param string $password The application password.
 */
function keep_site_key( string $login, string $password ): void {
	update_option( OPTION_KEY, sealed( $login, $password, 'site' ), false );
}

/**
 * Keeps the credential of a WordPress user.
 *
 * @param int    $user     The user's id.
 * @param string $login    The login.
 * @param string $password The application password.
 */
function keep_user_key( int $user, string $login, string $password ): void {
	update_user_meta( $user, meta_key(), sealed( $login, $password, "user $user" ) );
}

/**
 * A credential as it is kept. It counts for the address of now only.
 *
 * @param string $login    The login.
 * @param string $password The application password.
 * @param string $whose    Whose it is.
 * @return array<string, string>
 */
function sealed( string $login, string $password, string $whose ): array {
	return array(
		'login'    => $login,
		'password' => seal_secret( $password, $whose . ' ' . options()['url'] ),
	);
}

/**
 * A credential that was kept, or null. A password that was typed for one address is never sent to another.
 *
 * @param mixed  $kept  The answer of sealed().
 * @param string $whose Whose it is.
 * @return array{0: string, 1: string}|null
 */
function opened( mixed $kept, string $whose ): ?array {
	if ( ! is_array( $kept ) || ! is_string( $kept['login'] ?? null ) || ! is_string( $kept['password'] ?? null ) ) {
		return null;
	}
	$password = open_secret( $kept['password'], $whose . ' ' . options()['url'] );
	return null === $password ? null : array( $kept['login'], $password );
}
