<?php
/**
 * The page under Settings: address and credential, what there is to show, and who may do what.
 *
 * @package Frontdesk
 */

namespace Frontdesk;

use WP_Error;

defined( 'ABSPATH' ) || exit;

const PAGE = 'frontdesk';

/**
 * Adds the page.
 */
function add_page(): void {
	add_options_page( 'Frontdesk', 'Frontdesk', 'manage_options', PAGE, __NAMESPACE__ . '\show_page' );
}
add_action( 'admin_menu', __NAMESPACE__ . '\add_page' );

/**
 * Proposes a paragraph for the website's privacy policy.
 */
function propose_policy(): void {
	wp_add_privacy_policy_content(
		'Frontdesk',
		'<p>' . esc_html__( 'To book an appointment or to send a form, your browser loads a widget from our Frontdesk and sends it what you fill in, with the address of the page. If you are signed in here, your name and address are filled in for you.', 'frontdesk' ) . '</p>'
	);
}
add_action( 'admin_init', __NAMESPACE__ . '\propose_policy' );

/**
 * A link to the page in the list of plugins.
 *
 * @param array<string> $links The links.
 * @return array<string>
 */
function page_link( array $links ): array {
	array_unshift( $links, '<a href="' . esc_url( page_url() ) . '">' . esc_html__( 'Settings', 'frontdesk' ) . '</a>' );
	return $links;
}
add_filter( 'plugin_action_links_' . plugin_basename( FILE ), __NAMESPACE__ . '\page_link' );

/**
 * The address of the page.
 */
function page_url(): string {
	return admin_url( 'options-general.php?page=' . PAGE );
}

/**
 * Leads back to the page, which says what became of it, once, to this person.
 *
 * @param string $kind success or error.
 * @param string $line What to say.
 */
function back( string $kind, string $line ): never {
	set_transient( 'frontdesk_said_' . get_current_user_id(), array( $kind, $line ), MINUTE_IN_SECONDS );
	wp_safe_redirect( page_url() );
	exit;
}

/**
 * Only an administrator goes on, with a form of this page.
 *
 * @param string $action Of the form.
 */
function only_admins( string $action ): void {
	if ( ! current_user_can( 'manage_options' ) ) {
		wp_die( esc_html__( 'You are not allowed to do this.', 'frontdesk' ), '', array( 'response' => 403 ) );
	}
	check_admin_referer( $action );
}

/**
 * A text of the form that was sent. Its nonce has been checked.
 *
 * @param string $name The field.
 */
function sent( string $name ): string {
	return isset( $_POST[ $name ] ) && is_string( $_POST[ $name ] ) ? trim( sanitize_text_field( wp_unslash( $_POST[ $name ] ) ) ) : '';
}

/**
 * Connects: keeps address and credential once the installation accepts them.
 */
function connect(): void {
	only_admins( 'frontdesk_connect' );
	$address = clean_address( sent( 'url' ) );
	if ( is_wp_error( $address ) ) {
		back( 'error', $address->get_error_message() );
	}
	$before   = get_option( OPTION );
	$kept     = site_key();
	$login    = sent( 'login' );
	$password = sent( 'password' );
	if ( '' === $password && null !== $kept && options()['url'] === $address && $kept[0] === $login ) {
		$password = $kept[1];
	}
	if ( '' === $login || '' === $password ) {
		back( 'error', __( 'Enter login and application password. For another address or login the password is asked for anew.', 'frontdesk' ) );
	}
	update_option( OPTION, array_merge( options(), array( 'url' => $address ) ), false );
	$me = call( 'GET', '/me', array( $login, $password ) );
	if ( is_wp_error( $me ) || ! is_int( $me['user_id'] ?? null ) ) {
		// Nothing has changed.
		false === $before ? delete_option( OPTION ) : update_option( OPTION, $before, false );
		back( 'error', refusal( is_wp_error( $me ) ? $me : new WP_Error( 'frontdesk_no_api', __( 'What answers at this address is not Frontdesk.', 'frontdesk' ) ) ) );
	}
	keep_site_key( $login, $password );
	keep_schedule();
	$desk  = desk( ABILITY_SECONDS );
	$wrong = refresh_abilities();
	if ( '' !== $desk['error'] || null !== $wrong ) {
		back( 'error', '' !== $desk['error'] ? $desk['error'] : $wrong->get_error_message() );
	}
	/* translators: %s: the name of a person. */
	back( 'success', sprintf( __( 'Connected, in the name of %s.', 'frontdesk' ), (string) ( $me['name'] ?? $login ) ) );
}
add_action( 'admin_post_frontdesk_connect', __NAMESPACE__ . '\connect' );

/**
 * An error in words that say what to do.
 *
 * @param WP_Error $wrong The error.
 */
function refusal( WP_Error $wrong ): string {
	$status = (int) ( $wrong->get_error_data()['status'] ?? 0 );
	if ( 401 === $status ) {
		return __( 'Login or application password is not right. An application password is made on your page "application passwords" in Frontdesk; your usual password does not work here.', 'frontdesk' );
	}
	return $wrong->get_error_message();
}

/**
 * Keeps the choices about widgets and rights.
 */
function choose(): void {
	only_admins( 'frontdesk_choose' );
	$rights = array();
	foreach ( array_keys( default_rights() ) as $permission ) {
		$capability = sent( "right_$permission" );
		if ( in_array( $capability, capabilities(), true ) ) {
			$rights[ $permission ] = $capability;
		}
	}
	update_option(
		OPTION,
		array(
			'url'      => options()['url'],
			'theme'    => '' !== sent( 'theme' ),
			'prefill'  => '' !== sent( 'prefill' ),
			'campaign' => '' !== sent( 'campaign' ),
			'rights'   => $rights,
		),
		false
	);
	back( 'success', __( 'Saved.', 'frontdesk' ) );
}
add_action( 'admin_post_frontdesk_choose', __NAMESPACE__ . '\choose' );

/**
 * Disconnects: forgets the credential and what was known. The choices stay.
 */
function disconnect(): void {
	only_admins( 'frontdesk_disconnect' );
	update_option( OPTION, array_merge( options(), array( 'url' => '' ) ), false );
	delete_option( OPTION_KEY );
	delete_option( OPTION_DESK );
	delete_option( OPTION_ABILITIES );
	forget_schedule();
	back( 'success', __( 'Disconnected. End the application password in Frontdesk too.', 'frontdesk' ) );
}
add_action( 'admin_post_frontdesk_disconnect', __NAMESPACE__ . '\disconnect' );

/**
 * The capabilities that can be chosen: those that roles of this website give.
 *
 * @return list<string>
 */
function capabilities(): array {
	$all = array( 'manage_options' );
	foreach ( wp_roles()->roles as $role ) {
		$all = array_merge( $all, array_keys( array_filter( $role['capabilities'] ) ) );
	}
	// Everybody who can sign in may read, and levels are a thing of the past.
	$all = array_filter( $all, static fn( $name ) => 'read' !== $name && ! str_starts_with( (string) $name, 'level_' ) );
	sort( $all );
	return array_values( array_unique( $all ) );
}

/**
 * Shows the page.
 */
function show_page(): void {
	if ( ! current_user_can( 'manage_options' ) ) {
		return;
	}
	$options   = options();
	$connected = '' !== $options['url'];
	$said      = get_transient( 'frontdesk_said_' . get_current_user_id() );
	delete_transient( 'frontdesk_said_' . get_current_user_id() );
	echo '<div class="wrap"><h1>Frontdesk</h1>';
	if ( is_array( $said ) ) {
		wp_admin_notice( esc_html( $said[1] ), array( 'type' => 'success' === $said[0] ? 'success' : 'error' ) );
	}
	show_connection( $options, $connected );
	if ( $connected ) {
		show_desk( desk() );
		show_choices( $options );
	}
	echo '</div>';
}

/**
 * The head of a form of this page.
 *
 * @param string $action Of the form.
 */
function form_head( string $action ): void {
	echo '<form method="post" action="' . esc_url( admin_url( 'admin-post.php' ) ) . '"><input type="hidden" name="action" value="' . esc_attr( $action ) . '">';
	wp_nonce_field( $action );
}

/**
 * Address and credential.
 *
 * @param array<string, mixed> $options   The choices.
 * @param bool                 $connected There is an address.
 */
function show_connection( array $options, bool $connected ): void {
	$key = site_key();
	echo '<h2>' . esc_html__( 'Connection', 'frontdesk' ) . '</h2>';
	if ( $connected && null === $key ) {
		wp_admin_notice( esc_html__( 'The application password is missing or cannot be read any more: enter it again.', 'frontdesk' ), array( 'type' => 'error' ) );
	}
	echo '<p>' . esc_html__( 'Make an application password on your page "application passwords" in Frontdesk. One that is limited to svc_view_contacts is enough: this website only asks what there is to book and to fill in.', 'frontdesk' ) . '</p>';
	form_head( 'frontdesk_connect' );
	echo '<table class="form-table" role="presentation">';
	row( 'url', __( 'Address', 'frontdesk' ), '<input class="regular-text" type="url" id="url" name="url" required placeholder="https://desk.example.com" value="' . esc_attr( $options['url'] ) . '">' );
	row( 'login', __( 'Login', 'frontdesk' ), '<input class="regular-text" type="text" id="login" name="login" required autocomplete="off" value="' . esc_attr( $key[0] ?? '' ) . '">' );
	row( 'password', __( 'Application password', 'frontdesk' ), '<input class="regular-text" type="password" id="password" name="password" autocomplete="new-password"' . ( null === $key ? ' required' : ' placeholder="' . esc_attr__( 'kept; leave empty to keep it', 'frontdesk' ) . '"' ) . '>' );
	echo '</table>';
	submit_button( $connected ? __( 'Check and save', 'frontdesk' ) : __( 'Connect', 'frontdesk' ), 'primary', 'connect', false );
	echo '</form>';
	if ( $connected ) {
		form_head( 'frontdesk_disconnect' );
		echo '<p>';
		submit_button( __( 'Disconnect', 'frontdesk' ), 'delete', 'disconnect', false );
		echo '</p></form>';
	}
}

/**
 * A row of a form.
 *
 * @param string $id    Of the control.
 * @param string $label Its label.
 * @param string $html  The control, escaped.
 */
function row( string $id, string $label, string $html ): void {
	echo '<tr><th scope="row"><label for="' . esc_attr( $id ) . '">' . esc_html( $label ) . '</label></th><td>' . $html . '</td></tr>';
}

/**
 * The table of services and forms, with their shortcodes.
 *
 * @param array<string, mixed> $desk What is known.
 */
function show_desk( array $desk ): void {
	echo '<h2>' . esc_html__( 'What you can show', 'frontdesk' ) . '</h2>';
	if ( '' !== $desk['error'] ) {
		wp_admin_notice( esc_html( $desk['error'] ), array( 'type' => 'warning' ) );
	}
	echo '<table class="widefat striped"><thead><tr><th>' . esc_html__( 'Name', 'frontdesk' ) . '</th><th>' . esc_html__( 'Shortcode', 'frontdesk' ) . '</th></tr></thead><tbody>';
	if ( $desk['apps']['booking'] ?? false ) {
		line( __( 'Booking of all services', 'frontdesk' ), '[svc-booking]' );
		foreach ( $desk['services'] as $service ) {
			line( (string) $service['name'], '[svc-booking service="' . $service['id'] . '"]' );
		}
	} else {
		line( __( 'Booking', 'frontdesk' ), __( 'The app is switched off in Frontdesk.', 'frontdesk' ) );
	}
	if ( $desk['apps']['forms'] ?? false ) {
		foreach ( $desk['forms'] as $form ) {
			line( (string) $form['name'], '[svc-form id="' . $form['id'] . '"]' );
		}
	} else {
		line( __( 'Forms', 'frontdesk' ), __( 'The app is switched off in Frontdesk.', 'frontdesk' ) );
	}
	echo '</tbody></table>';
	echo '<p>' . esc_html__( 'In the editor they are the blocks "Frontdesk booking" and "Frontdesk form".', 'frontdesk' ) . ' ';
	if ( '' !== $desk['booking_page'] ) {
		echo esc_html__( 'The booking page:', 'frontdesk' ) . ' <a href="' . esc_url( $desk['booking_page'] ) . '">' . esc_html( $desk['booking_page'] ) . '</a>';
	} else {
		echo esc_html__( 'The booking page of Frontdesk is off, so visitors without scripts get no link.', 'frontdesk' );
	}
	echo '</p>';
}

/**
 * A line of the table of what there is.
 *
 * @param string $name Its name.
 * @param string $code What to write.
 */
function line( string $name, string $code ): void {
	echo '<tr><td>' . esc_html( $name ) . '</td><td><code>' . esc_html( $code ) . '</code></td></tr>';
}

/**
 * The choices about widgets and rights.
 *
 * @param array<string, mixed> $options The choices.
 */
function show_choices( array $options ): void {
	form_head( 'frontdesk_choose' );
	echo '<h2>' . esc_html__( 'Widgets', 'frontdesk' ) . '</h2><p>';
	tick( 'theme', $options['theme'], __( 'Take colours and letters from the theme. What is set in Frontdesk goes before.', 'frontdesk' ) );
	tick( 'prefill', $options['prefill'], __( 'Fill in name and address of visitors who are signed in here.', 'frontdesk' ) );
	tick( 'campaign', $options['campaign'], __( 'Keep the campaign (utm_…) that a visitor came by for the rest of the visit. It is stored in the visitor\'s browser; say so in your privacy policy.', 'frontdesk' ) );
	echo '</p><h2>' . esc_html__( 'Abilities', 'frontdesk' ) . '</h2><p>';
	/* translators: %d: a number. */
	echo esc_html( sprintf( _n( '%d ability of Frontdesk stands beside those of WordPress.', '%d abilities of Frontdesk stand beside those of WordPress.', count( known_abilities() ), 'frontdesk' ), count( known_abilities() ) ) ) . ' ';
	echo esc_html__( 'Who runs one needs the capability of WordPress that stands here beside the permission, and an application password of their own, entered on their profile page: Frontdesk then decides as it does for that person anywhere else.', 'frontdesk' ) . '</p>';
	echo '<table class="widefat striped"><thead><tr><th>' . esc_html__( 'Permission of Frontdesk', 'frontdesk' ) . '</th><th>' . esc_html__( 'Capability of WordPress', 'frontdesk' ) . '</th></tr></thead><tbody>';
	foreach ( $options['rights'] as $permission => $now ) {
		echo '<tr><td><label for="right_' . esc_attr( $permission ) . '"><code>' . esc_html( $permission ) . '</code></label></td><td><select id="right_' . esc_attr( $permission ) . '" name="right_' . esc_attr( $permission ) . '">';
		foreach ( capabilities() as $capability ) {
			echo '<option' . selected( $capability, $now, false ) . '>' . esc_html( $capability ) . '</option>';
		}
		echo '</select></td></tr>';
	}
	echo '</tbody></table>';
	submit_button( __( 'Save', 'frontdesk' ), 'primary', 'save' );
	echo '</form>';
}

/**
 * A checkbox with its label.
 *
 * @param string $name Of the field.
 * @param bool   $on   It is ticked.
 * @param string $line Its label.
 */
function tick( string $name, bool $on, string $line ): void {
	echo '<label><input type="checkbox" name="' . esc_attr( $name ) . '" value="1"' . checked( $on, true, false ) . '> ' . esc_html( $line ) . '</label><br>';
}
