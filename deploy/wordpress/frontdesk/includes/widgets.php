<?php
/**
 * The booking widget and forms, as blocks and as shortcodes.
 *
 * @package Frontdesk
 */

namespace Frontdesk;

defined( 'ABSPATH' ) || exit;

/** The handle of script and style of the widgets. */
const WIDGETS = 'frontdesk-widgets';

/**
 * Registers scripts, styles, blocks and shortcodes.
 */
function register_widgets(): void {
	$url = options()['url'];
	if ( '' !== $url ) {
		// Its address has a version of its own, and the installation says how long it is kept.
		wp_register_script( WIDGETS, "$url/_ui/w/v1/svc.js", array(), null, array( 'in_footer' => true ) );
	}
	wp_register_style( WIDGETS, false, array(), VERSION );
	wp_register_script( 'frontdesk-blocks', plugins_url( 'assets/blocks.js', FILE ), array( 'wp-blocks', 'wp-block-editor', 'wp-components', 'wp-element', 'wp-server-side-render' ), VERSION, array( 'in_footer' => true ) );
	wp_register_script( 'frontdesk-campaign', plugins_url( 'assets/campaign.js', FILE ), array(), VERSION, array( 'strategy' => 'defer' ) );
	register_block_type( __DIR__ . '/../blocks/booking', array( 'render_callback' => __NAMESPACE__ . '\booking_block' ) );
	register_block_type( __DIR__ . '/../blocks/form', array( 'render_callback' => __NAMESPACE__ . '\form_block' ) );
	add_shortcode( 'svc-booking', __NAMESPACE__ . '\booking_shortcode' );
	add_shortcode( 'svc-form', __NAMESPACE__ . '\form_shortcode' );
}
add_action( 'init', __NAMESPACE__ . '\register_widgets' );

/**
 * The widgets' script is a module.
 *
 * @param string $tag    The element.
 * @param string $handle The script's handle.
 */
function as_module( string $tag, string $handle ): string {
	if ( WIDGETS !== $handle ) {
		return $tag;
	}
	$html = new \WP_HTML_Tag_Processor( $tag );
	while ( $html->next_tag( 'script' ) ) {
		if ( null !== $html->get_attribute( 'src' ) ) {
			$html->set_attribute( 'type', 'module' );
		}
	}
	return $html->get_updated_html();
}
add_filter( 'script_loader_tag', __NAMESPACE__ . '\as_module', 10, 2 );

/**
 * Script and style of the widgets, once on a page.
 */
function enqueue_widgets(): void {
	if ( ! wp_style_is( WIDGETS ) ) {
		wp_enqueue_style( WIDGETS );
		wp_add_inline_style( WIDGETS, widget_style() );
	}
	wp_enqueue_script( WIDGETS );
}

/**
 * In the editor the widgets' script belongs into the frame that shows the page.
 */
function enqueue_in_editor(): void {
	if ( is_admin() && '' !== options()['url'] ) {
		enqueue_widgets();
	}
}
add_action( 'enqueue_block_assets', __NAMESPACE__ . '\enqueue_in_editor' );

/**
 * Gives the blocks' editor its choices and words.
 */
function enqueue_choices(): void {
	$desk = desk();
	$all  = array(
		'services' => $desk['services'],
		'staff'    => $desk['staff'],
		'forms'    => $desk['forms'],
		'words'    => array(
			'booking'    => __( 'Frontdesk booking', 'frontdesk' ),
			'bookingDoc' => __( 'Visitors choose a service and a free time.', 'frontdesk' ),
			'form'       => __( 'Frontdesk form', 'frontdesk' ),
			'formDoc'    => __( 'A form of your Frontdesk.', 'frontdesk' ),
			'what'       => __( 'What is shown', 'frontdesk' ),
			'service'    => __( 'Service', 'frontdesk' ),
			'allOf'      => __( 'All services', 'frontdesk' ),
			'person'     => __( 'Person', 'frontdesk' ),
			'anybody'    => __( 'Anybody who is free', 'frontdesk' ),
			'whichForm'  => __( 'Form', 'frontdesk' ),
			'choose'     => __( 'Choose a form', 'frontdesk' ),
		),
	);
	wp_add_inline_script( 'frontdesk-blocks', 'window.frontdesk = ' . wp_json_encode( $all, JSON_HEX_TAG | JSON_HEX_AMP ) . ';', 'before' );
}
add_action( 'enqueue_block_editor_assets', __NAMESPACE__ . '\enqueue_choices' );

/**
 * Keeps the campaign of a visit, where the administrator has switched that on.
 */
function enqueue_campaign(): void {
	if ( options()['campaign'] ) {
		wp_enqueue_script( 'frontdesk-campaign' );
	}
}
add_action( 'wp_enqueue_scripts', __NAMESPACE__ . '\enqueue_campaign' );

/**
 * The block for booking.
 *
 * @param array<string, mixed> $attributes Of the block.
 */
function booking_block( array $attributes ): string {
	return in_block( booking( (string) ( $attributes['service'] ?? '' ), (int) ( $attributes['staff'] ?? 0 ) ) );
}

/**
 * The block for a form.
 *
 * @param array<string, mixed> $attributes Of the block.
 */
function form_block( array $attributes ): string {
	return in_block( form( (int) ( $attributes['id'] ?? 0 ) ) );
}

/**
 * A block around HTML; nothing around nothing.
 *
 * @param string $html Of the widget.
 */
function in_block( string $html ): string {
	return '' === $html ? '' : '<div ' . get_block_wrapper_attributes() . ">$html</div>";
}

/**
 * The shortcode [svc-booking service="…" staff="…"].
 *
 * @param array<string, string>|string $attributes Of the shortcode.
 */
function booking_shortcode( array|string $attributes ): string {
	$given = shortcode_atts(
		array(
			'service' => '',
			'staff'   => '',
		),
		$attributes,
		'svc-booking'
	);
	return booking( (string) $given['service'], (int) $given['staff'] );
}

/**
 * The shortcode [svc-form id="…"].
 *
 * @param array<string, string>|string $attributes Of the shortcode.
 */
function form_shortcode( array|string $attributes ): string {
	$given = shortcode_atts( array( 'id' => '' ), $attributes, 'svc-form' );
	return form( (int) $given['id'] );
}

/**
 * The booking widget, with a link to the booking page for who has no scripts.
 *
 * @param string $service Only this service; all for an empty text.
 * @param int    $staff   Only this person; anybody for 0.
 */
function booking( string $service, int $staff ): string {
	$desk    = desk();
	$missing = missing( 'booking', $desk, __( 'Online booking is not possible at the moment.', 'frontdesk' ) );
	if ( null !== $missing ) {
		return $missing;
	}
	$which = array_filter(
		array(
			'service' => preg_match( '/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i', $service ) ? strtolower( $service ) : '',
			'staff'   => $staff > 0 ? (string) $staff : '',
		)
	);
	// The booking page may be off, and then the widget is the only way.
	$inside = '' === $desk['booking_page']
		? esc_html__( 'Online booking needs JavaScript.', 'frontdesk' )
		: link_to( $desk['booking_page'], $which, __( 'Book online', 'frontdesk' ) );
	return element( 'svc-booking', $which, $inside );
}

/**
 * A form, with a link to its page for who has no scripts.
 *
 * @param int $id The form's number.
 */
function form( int $id ): string {
	$desk    = desk();
	$missing = missing( 'forms', $desk, __( 'This form is not available at the moment.', 'frontdesk' ) );
	if ( null !== $missing ) {
		return $missing;
	}
	if ( $id < 1 ) {
		return hint( __( 'Choose a form.', 'frontdesk' ) );
	}
	return element( 'svc-form', array( 'form' => (string) $id ), link_to( options()['url'] . "/f/$id", array(), __( 'Open the form', 'frontdesk' ) ) );
}

/**
 * The line that stands in place of a widget that cannot be shown, or null.
 *
 * @param string               $app  booking or forms.
 * @param array<string, mixed> $desk What is known.
 * @param string               $line For visitors.
 */
function missing( string $app, array $desk, string $line ): ?string {
	if ( '' === options()['url'] ) {
		return hint( __( 'This website is not connected to Frontdesk yet.', 'frontdesk' ) );
	}
	if ( 0 === $desk['at'] ) {
		return '<p class="frontdesk-missing">' . esc_html( $line ) . '</p>' . hint( $desk['error'] );
	}
	if ( ! ( $desk['apps'][ $app ] ?? false ) ) {
		return '<p class="frontdesk-missing">' . esc_html( $line ) . '</p>' . hint( __( 'The app is switched off in Frontdesk.', 'frontdesk' ) );
	}
	return null;
}

/**
 * A line that only people who write on this website read.
 *
 * @param string $line What to do.
 */
function hint( string $line ): string {
	return '' !== $line && current_user_can( 'edit_posts' ) ? '<p class="frontdesk-hint"><em>Frontdesk: ' . esc_html( $line ) . '</em></p>' : '';
}

/**
 * An element of the widgets' script.
 *
 * @param string                $tag        svc-booking or svc-form.
 * @param array<string, string> $attributes Its attributes.
 * @param string                $inside     HTML that stands there until the script has drawn it.
 */
function element( string $tag, array $attributes, string $inside ): string {
	enqueue_widgets();
	$html = "<$tag lang=\"" . esc_attr( substr( determine_locale(), 0, 2 ) ) . '"';
	foreach ( $attributes as $name => $value ) {
		$html .= " $name=\"" . esc_attr( $value ) . '"';
	}
	return $html . '>' . known_visitor() . $inside . "</$tag>";
}

/**
 * Name and address of a visitor who is signed in, which the widget fills in. A page of somebody who is signed in is in no cache for others.
 */
function known_visitor(): string {
	$user = wp_get_current_user();
	if ( ! options()['prefill'] || 0 === $user->ID || defined( 'REST_REQUEST' ) ) {
		return '';
	}
	$given = array_filter(
		array(
			'contact.email'      => (string) $user->user_email,
			'contact.first_name' => (string) $user->first_name,
			'contact.last_name'  => (string) $user->last_name,
		)
	);
	return '<script type="application/json">' . wp_json_encode( array( 'given' => (object) $given ), JSON_HEX_TAG | JSON_HEX_AMP ) . '</script>';
}

/**
 * A link to a page of the installation, with the campaign that led here.
 *
 * @param string                $url   Its address.
 * @param array<string, string> $query More in its query.
 * @param string                $words Of the link.
 */
function link_to( string $url, array $query, string $words ): string {
	foreach ( array( 'utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content', 'utm_id' ) as $name ) {
		// Reading an address changes nothing.
		$value = isset( $_GET[ $name ] ) && is_string( $_GET[ $name ] ) ? sanitize_text_field( wp_unslash( $_GET[ $name ] ) ) : '';
		if ( '' !== $value ) {
			$query[ $name ] = substr( $value, 0, 200 );
		}
	}
	return '<a href="' . esc_url( add_query_arg( array_map( 'rawurlencode', $query ), $url ) ) . '">' . esc_html( $words ) . '</a>';
}
