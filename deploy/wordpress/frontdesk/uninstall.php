<?php
/**
 * Removes everything that the plugin kept, on each website of a network.
 *
 * @package Frontdesk
 */

defined( 'WP_UNINSTALL_PLUGIN' ) || exit;

$frontdesk_remove = static function (): void {
	foreach ( array( 'frontdesk', 'frontdesk_key', 'frontdesk_desk', 'frontdesk_abilities' ) as $name ) {
		delete_option( $name );
	}
	wp_clear_scheduled_hook( 'frontdesk_refresh' );
};
if ( is_multisite() ) {
	foreach ( get_sites(
		array(
			'fields' => 'ids',
			'number' => 0,
		)
	) as $frontdesk_site ) {
		switch_to_blog( $frontdesk_site );
		$frontdesk_remove();
		restore_current_blog();
	}
} else {
	$frontdesk_remove();
}
// On a network each website has its own, those that are gone too.
global $wpdb;
$wpdb->query( $wpdb->prepare( "DELETE FROM $wpdb->usermeta WHERE meta_key = 'frontdesk_key' OR meta_key LIKE %s", $wpdb->esc_like( $wpdb->base_prefix ) . '%' . $wpdb->esc_like( 'frontdesk_key' ) ) );
