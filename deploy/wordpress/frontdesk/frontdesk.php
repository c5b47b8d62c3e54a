<?php
/**
 * Plugin Name:       Frontdesk
 * Description:       Online booking, forms and abilities of a Frontdesk installation on this website.
 * Version:           1.0.0
 * Requires at least: 6.9
 * Requires PHP:      8.1
 * License:           GPL-2.0-or-later
 * License URI:       https://www.gnu.org/licenses/gpl-2.0.html
 * Text Domain:       frontdesk
 * Domain Path:       /languages
 *
 * @package Frontdesk
 */

namespace Frontdesk;

defined( 'ABSPATH' ) || exit;

const VERSION = '1.0.0';
const FILE    = __FILE__;

require_once __DIR__ . '/includes/secret.php';
require_once __DIR__ . '/includes/connection.php';
require_once __DIR__ . '/includes/client.php';
require_once __DIR__ . '/includes/desk.php';
require_once __DIR__ . '/includes/look.php';
require_once __DIR__ . '/includes/widgets.php';
require_once __DIR__ . '/includes/abilities.php';
require_once __DIR__ . '/includes/settings.php';
require_once __DIR__ . '/includes/profile.php';

/**
 * The texts of the reader's language, whatever the country: nl_BE reads those of nl_NL.
 */
function load_texts(): void {
	$locale = determine_locale();
	$ours   = array(
		'nl' => 'nl_NL',
		'fr' => 'fr_FR',
		'de' => 'de_DE',
	)[ substr( $locale, 0, 2 ) ] ?? '';
	if ( '' !== $ours ) {
		load_textdomain( 'frontdesk', __DIR__ . "/languages/frontdesk-$ours.mo", $locale );
	}
}
add_action( 'init', __NAMESPACE__ . '\load_texts', 1 );

register_deactivation_hook( FILE, __NAMESPACE__ . '\deactivate' );
