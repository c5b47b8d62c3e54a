<?php
/**
 * The installation's abilities, by proxy: each call is made with the application password of the WordPress user who makes it, so the
 * installation decides as it does for that person anywhere else. The table of capabilities is a fence before it.
 *
 * @package Frontdesk
 */

namespace Frontdesk;

use WP_Error;

defined( 'ABSPATH' ) || exit;

/** Seconds that an ability may take: as long as an operation of the installation runs. */
const ABILITY_SECONDS = 25.0;

/**
 * Asks which abilities there are, and what each asks for. Null, or what is wrong: then the last ones stay.
 */
function refresh_abilities(): ?WP_Error {
	$key = site_key();
	if ( null === $key ) {
		return new WP_Error( 'frontdesk_no_key', __( 'The application password is missing or cannot be read any more: enter it again.', 'frontdesk' ) );
	}
	$list     = call( 'GET', '/abilities', $key, null, ABILITY_SECONDS );
	$document = is_wp_error( $list ) ? $list : call( 'GET', '/openapi.json', null, null, ABILITY_SECONDS );
	if ( is_wp_error( $document ) ) {
		return $document;
	}
	$permission = array();
	foreach ( $document['paths'] ?? array() as $methods ) {
		foreach ( (array) $methods as $operation ) {
			if ( is_string( $operation['x-ability'] ?? null ) ) {
				$permission[ $operation['x-ability'] ] = (string) ( $operation['x-permission'] ?? '' );
			}
		}
	}
	$kept = array();
	foreach ( $list['items'] ?? array() as $ability ) {
		if ( ! is_array( $ability ) || ! preg_match( '#^svc/[a-z0-9-]+$#', (string) ( $ability['name'] ?? '' ) ) ) {
			continue;
		}
		$hints                    = $ability['meta']['annotations'] ?? array();
		$kept[ $ability['name'] ] = array(
			'label'       => (string) $ability['label'],
			'description' => (string) $ability['description'],
			'category'    => 'svc-' . sanitize_key( (string) $ability['category'] ),
			'input'       => schema( $ability['input_schema'] ?? null ),
			'output'      => schema( $ability['output_schema'] ?? null ),
			'readonly'    => (bool) ( $hints['readonly'] ?? false ),
			'destructive' => (bool) ( $hints['destructive'] ?? false ),
			'idempotent'  => (bool) ( $hints['idempotent'] ?? false ),
			// An ability without a known permission asks for the most.
			'permission'  => array_key_exists( $permission[ $ability['name'] ] ?? '', default_rights() ) ? $permission[ $ability['name'] ] : 'svc_manage_crm',
		);
	}
	update_option(
		OPTION_ABILITIES,
		array(
			'url'   => options()['url'],
			'items' => $kept,
		),
		false
	);
	return null;
}
add_action( HOOK_REFRESH, __NAMESPACE__ . '\refresh_abilities' );

/**
 * Looks at the abilities every hour from now on.
 */
function keep_schedule(): void {
	if ( ! wp_next_scheduled( HOOK_REFRESH ) ) {
		wp_schedule_event( time() + HOUR_IN_SECONDS, 'hourly', HOOK_REFRESH );
	}
}

/**
 * Ends the hourly look.
 */
function forget_schedule(): void {
	wp_clear_scheduled_hook( HOOK_REFRESH );
}

/**
 * Ends the hourly look where the plugin is switched off.
 *
 * @param bool $network On each website of a network.
 */
function deactivate( bool $network ): void {
	foreach ( $network ? get_sites( array( 'fields' => 'ids', 'number' => 0 ) ) : array( get_current_blog_id() ) as $site ) {
		is_multisite() && switch_to_blog( $site );
		forget_schedule();
		is_multisite() && restore_current_blog();
	}
}

/**
 * The abilities that are known, by name.
 *
 * @return array<string, array<string, mixed>>
 */
function known_abilities(): array {
	$kept = get_option( OPTION_ABILITIES );
	return is_array( $kept ) && '' !== options()['url'] && ( $kept['url'] ?? '' ) === options()['url'] ? (array) ( $kept['items'] ?? array() ) : array();
}

/**
 * A JSON Schema as WordPress reads it: it knows fewer words, and asks for a type everywhere. Null for a schema that says nothing.
 *
 * @param mixed $given The schema.
 * @return array<string, mixed>|null
 */
function schema( mixed $given ): ?array {
	if ( ! is_array( $given ) ) {
		return null;
	}
	$known = array( 'type', 'title', 'description', 'enum', 'format', 'minLength', 'maxLength', 'pattern', 'minimum', 'maximum', 'minItems', 'maxItems', 'uniqueItems', 'required', 'default' );
	$out   = array_intersect_key( $given, array_flip( $known ) );
	foreach ( array( 'anyOf', 'oneOf' ) as $word ) {
		$of = array_filter( array_map( __NAMESPACE__ . '\schema', (array) ( $given[ $word ] ?? array() ) ) );
		if ( array() !== $of && count( $of ) === count( $given[ $word ] ) ) {
			$out[ $word ] = array_values( $of );
		}
	}
	if ( is_array( $given['properties'] ?? null ) ) {
		$out['properties'] = array();
		foreach ( $given['properties'] as $name => $property ) {
			$of = schema( $property );
			// Anything at all.
			$out['properties'][ $name ] = $of ?? array( 'type' => array( 'string', 'number', 'boolean', 'object', 'array', 'null' ) );
		}
	}
	if ( isset( $given['items'] ) ) {
		$of = schema( $given['items'] );
		if ( null !== $of ) {
			$out['items'] = $of;
		}
	}
	if ( array_key_exists( 'additionalProperties', $given ) ) {
		$of                          = is_array( $given['additionalProperties'] ) ? schema( $given['additionalProperties'] ) : $given['additionalProperties'];
		$out['additionalProperties'] = $of ?? true;
	}
	// A format that WordPress checks by rules of its own would refuse what the installation takes.
	if ( isset( $out['format'] ) && ! in_array( $out['format'], array( 'date-time', 'uuid' ), true ) ) {
		unset( $out['format'] );
	}
	if ( ! isset( $out['type'] ) ) {
		if ( isset( $out['properties'] ) ) {
			$out['type'] = 'object';
		} elseif ( ! isset( $out['anyOf'] ) && ! isset( $out['oneOf'] ) ) {
			return null;
		}
	}
	return $out;
}

/**
 * Registers a group for each service.
 */
function register_categories(): void {
	foreach ( array_unique( array_column( known_abilities(), 'category' ) ) as $slug ) {
		$name = ucfirst( substr( $slug, 4 ) );
		wp_register_ability_category(
			$slug,
			array(
				'label'       => "Frontdesk: $name",
				/* translators: %s: the name of a part, such as Booking. */
				'description' => sprintf( __( 'What can be done in the part %s of Frontdesk.', 'frontdesk' ), $name ),
			)
		);
	}
}
add_action( 'wp_abilities_api_categories_init', __NAMESPACE__ . '\register_categories' );

/**
 * Registers the abilities that are known. It asks no network.
 */
function register_abilities(): void {
	foreach ( known_abilities() as $name => $ability ) {
		$input = $ability['input'] ?? array(
			'type'       => 'object',
			'properties' => array(),
		);
		if ( empty( $input['required'] ) ) {
			$input['default'] = array();
		}
		$args = array(
			'label'               => $ability['label'],
			'description'         => $ability['description'],
			'category'            => $ability['category'],
			'input_schema'        => $input,
			'permission_callback' => static fn() => may_run( $ability['permission'] ),
			'execute_callback'    => static fn( $given = array() ) => run_ability( $name, $ability, is_array( $given ) ? $given : array() ),
			'meta'                => array(
				'annotations'  => array(
					'readonly'    => $ability['readonly'],
					'destructive' => $ability['destructive'],
					'idempotent'  => $ability['idempotent'],
				),
				'show_in_rest' => true,
			),
		);
		if ( null !== $ability['output'] ) {
			$args['output_schema'] = $ability['output'];
		}
		wp_register_ability( $name, $args );
	}
}
add_action( 'wp_abilities_api_init', __NAMESPACE__ . '\register_abilities' );

/**
 * Whether the user of now has the capability that stands beside a permission in the table. Each permission asks for seeing contacts too.
 *
 * @param string $permission A permission of Frontdesk.
 */
function may_run( string $permission ): bool {
	$rights = options()['rights'];
	return is_user_logged_in() && current_user_can( $rights['svc_view_contacts'] ) && current_user_can( $rights[ $permission ] ?? 'do_not_allow' );
}

/**
 * Runs an ability in the name of the user of now.
 *
 * @param string               $name    Its name.
 * @param array<string, mixed> $ability As it is kept.
 * @param array<string, mixed> $given   Its input.
 */
function run_ability( string $name, array $ability, array $given ): mixed {
	$key = user_key( get_current_user_id() );
	if ( null === $key ) {
		return new WP_Error( 'frontdesk_no_own_key', __( 'Enter an application password of your own on your profile page: what you do in Frontdesk is done in your name.', 'frontdesk' ), array( 'status' => 403 ) );
	}
	$input = as_objects( $given, $ability['input'] ?? array( 'type' => 'object' ) );
	$path  = "/abilities/$name/run";
	// WordPress and the installation choose the method by the same hints.
	$method = $ability['readonly'] ? 'GET' : ( $ability['destructive'] && $ability['idempotent'] ? 'DELETE' : 'POST' );
	if ( 'POST' === $method ) {
		$answer = call( 'POST', $path, $key, array( 'input' => $input ), ABILITY_SECONDS );
	} else {
		$answer = call( $method, $path . '?input=' . rawurlencode( (string) wp_json_encode( $input ) ), $key, null, ABILITY_SECONDS );
	}
	if ( is_wp_error( $answer ) && 'svc_unauthorized' === $answer->get_error_code() ) {
		return new WP_Error( 'frontdesk_own_key_ended', __( 'Your application password is not accepted any more: enter a new one on your profile page.', 'frontdesk' ), array( 'status' => 403 ) );
	}
	return $answer;
}

/**
 * An input as JSON needs it: PHP has one empty array for both {} and [].
 *
 * @param mixed                $value  Of the input.
 * @param array<string, mixed> $schema Of the value.
 */
function as_objects( mixed $value, array $schema ): mixed {
	if ( ! is_array( $value ) ) {
		return $value;
	}
	if ( in_array( 'object', (array) ( $schema['type'] ?? array() ), true ) ) {
		foreach ( $value as $name => $member ) {
			$of             = $schema['properties'][ $name ] ?? $schema['additionalProperties'] ?? array();
			$value[ $name ] = as_objects( $member, is_array( $of ) ? $of : array() );
		}
		return (object) $value;
	}
	return array_map( static fn( $member ) => as_objects( $member, (array) ( $schema['items'] ?? array() ) ), $value );
}
