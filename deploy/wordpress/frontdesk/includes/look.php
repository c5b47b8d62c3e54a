<?php
/**
 * The colours and letters of the theme, in the widgets. What is set in Frontdesk itself goes before.
 *
 * @package Frontdesk
 */

namespace Frontdesk;

defined( 'ABSPATH' ) || exit;

/**
 * The style that stands beside a widget: the room it needs until it is drawn, and the theme's look.
 */
function widget_style(): string {
	$room = '@media (scripting: enabled) { svc-booking:not(:defined) { display: block; min-height: 30rem } svc-form:not(:defined) { display: block; min-height: 24rem } }';
	if ( ! options()['theme'] ) {
		return $room;
	}
	$css = '';
	foreach ( theme_properties( wp_get_global_styles( array(), array( 'transforms' => array( 'resolve-variables' ) ) ) ) as $name => $value ) {
		$css .= "$name: $value; ";
	}
	return '' === $css ? $room : "$room svc-booking, svc-form { $css}";
}

/**
 * The theme's style as properties of the widgets.
 *
 * @param mixed $styles The answer of wp_get_global_styles().
 * @return array<string, string>
 */
function theme_properties( mixed $styles ): array {
	$at  = static function ( string ...$path ) use ( $styles ): string {
		$value = is_array( $styles ) ? _wp_array_get( $styles, $path, '' ) : '';
		// A value ends in the style sheet of the page: nothing that could end its declaration.
		return is_string( $value ) && preg_match( '/^[\w\s#(),.%"\'\/+*-]{1,300}$/', $value ) && substr_count( $value, '(' ) === substr_count( $value, ')' ) && 0 === substr_count( $value, '"' ) % 2 && 0 === substr_count( $value, "'" ) % 2 ? trim( $value ) : '';
	};
	$all = array(
		'--svc-font'              => $at( 'typography', 'fontFamily' ),
		'--svc-color'             => $at( 'color', 'text' ),
		'--svc-background'        => $at( 'color', 'background' ),
		'--svc-button-background' => $at( 'elements', 'button', 'color', 'background' ),
		'--svc-button-text'       => $at( 'elements', 'button', 'color', 'text' ),
		'--svc-button-radius'     => $at( 'elements', 'button', 'border', 'radius' ),
		'--svc-heading-color'     => $at( 'elements', 'heading', 'color', 'text' ),
	);
	// Ink and paper belong together, and so do both of a button: one alone might be unreadable on ours.
	foreach ( array( array( '--svc-color', '--svc-background' ), array( '--svc-button-background', '--svc-button-text' ) ) as $pair ) {
		if ( '' === $all[ $pair[0] ] || '' === $all[ $pair[1] ] ) {
			$all[ $pair[0] ] = '';
			$all[ $pair[1] ] = '';
		}
	}
	if ( preg_match( '/^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i', $all['--svc-background'], $rgb ) ) {
		$light               = ( 299 * hexdec( $rgb[1] ) + 587 * hexdec( $rgb[2] ) + 114 * hexdec( $rgb[3] ) ) / 1000;
		$all['color-scheme'] = $light < 110 ? 'dark' : 'light';
	}
	return array_filter( $all, static fn( $value ) => '' !== $value );
}
