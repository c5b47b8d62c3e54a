<?php
/**
 * A person's own application password, on their own profile page. Nobody else sees or sets it.
 *
 * @package Frontdesk
 */

namespace Frontdesk;

defined( 'ABSPATH' ) || exit;

/**
 * Shows the fields to who could run an ability.
 *
 * @param \WP_User $user Whose profile it is: one's own.
 */
function show_own_key( \WP_User $user ): void {
	if ( '' === options()['url'] || ! may_run( 'svc_view_contacts' ) ) {
		return;
	}
	$key = user_key( $user->ID );
	echo '<h2>Frontdesk</h2><p>' . esc_html__( 'With an application password of your own, the abilities of Frontdesk work here in your name. Make one on your page "application passwords" in Frontdesk; one for assistants is enough.', 'frontdesk' ) . '</p>';
	wp_nonce_field( 'frontdesk_own_key', 'frontdesk_own_key_nonce' );
	echo '<table class="form-table" role="presentation">';
	row( 'frontdesk_login', __( 'Login', 'frontdesk' ), '<input class="regular-text" type="text" id="frontdesk_login" name="frontdesk_login" autocomplete="off" value="' . esc_attr( $key[0] ?? '' ) . '">' );
	row( 'frontdesk_password', __( 'Application password', 'frontdesk' ), '<input class="regular-text" type="password" id="frontdesk_password" name="frontdesk_password" autocomplete="new-password" placeholder="' . ( null === $key ? '' : esc_attr__( 'kept; leave empty to keep it', 'frontdesk' ) ) . '">' );
	echo '</table>';
	if ( null !== $key ) {
		tick( 'frontdesk_forget', false, __( 'Forget it', 'frontdesk' ) );
	}
}
add_action( 'show_user_profile', __NAMESPACE__ . '\show_own_key' );

/**
 * Keeps what was typed, once the installation accepts it; else says why, and keeps what was there.
 *
 * @param \WP_Error $errors Of the profile.
 * @param bool      $update The user exists.
 * @param object    $user   As it will be saved.
 */
function save_own_key( \WP_Error $errors, bool $update, object $user ): void {
	$id = get_current_user_id();
	if ( ! $update || (int) ( $user->ID ?? 0 ) !== $id || ! isset( $_POST['frontdesk_own_key_nonce'] ) ) {
		return;
	}
	check_admin_referer( 'frontdesk_own_key', 'frontdesk_own_key_nonce' );
	if ( ! may_run( 'svc_view_contacts' ) ) {
		return;
	}
	$login    = sent( 'frontdesk_login' );
	$password = sent( 'frontdesk_password' );
	if ( '' !== sent( 'frontdesk_forget' ) ) {
		delete_user_meta( $id, meta_key() );
	} elseif ( '' !== $password ) {
		// A password for assistants reaches abilities only.
		$answer = call( 'GET', '/abilities', array( $login, $password ), null, ABILITY_SECONDS );
		if ( is_wp_error( $answer ) ) {
			$errors->add( 'frontdesk', '<strong>Frontdesk:</strong> ' . esc_html( refusal( $answer ) ) );
		} else {
			keep_user_key( $id, $login, $password );
		}
	}
}
add_action( 'user_profile_update_errors', __NAMESPACE__ . '\save_own_key', 10, 3 );

/**
 * Forgets the credential of somebody who leaves a website of a network.
 *
 * @param int $user Who.
 * @param int $site The website.
 */
function forget_own_key( int $user, int $site ): void {
	delete_user_meta( $user, meta_key( $site ) );
}
add_action( 'remove_user_from_blog', __NAMESPACE__ . '\forget_own_key', 10, 2 );
