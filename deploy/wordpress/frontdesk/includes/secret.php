<?php
/**
 * Application passwords at rest: sealed under a key that follows from the secret keys of wp-config.php, which stand in no database and in no
 * export of it.
 *
 * @package Frontdesk
 */

namespace Frontdesk;

defined( 'ABSPATH' ) || exit;

/**
 * The key that secrets are sealed under.
 */
function sealing_key(): string {
	return hash_hmac( 'sha256', 'frontdesk application password', wp_salt( 'secure_auth' ), true );
}

/**
 * A secret as text that only open_secret() reads, and only with the same purpose: at another person it does not open.
 *
 * @param string $secret  The secret.
 * @param string $purpose Where it is kept.
 */
function seal_secret( string $secret, string $purpose ): string {
	$nonce = random_bytes( SODIUM_CRYPTO_AEAD_XCHACHA20POLY1305_IETF_NPUBBYTES );
	return base64_encode( $nonce . sodium_crypto_aead_xchacha20poly1305_ietf_encrypt( $secret, $purpose, $nonce, sealing_key() ) );
}

/**
 * The secret that was sealed, or null if the keys of wp-config.php have changed since.
 *
 * @param string $sealed  The answer of seal_secret().
 * @param string $purpose Where it is kept.
 */
function open_secret( string $sealed, string $purpose ): ?string {
	$raw    = base64_decode( $sealed, true );
	$length = SODIUM_CRYPTO_AEAD_XCHACHA20POLY1305_IETF_NPUBBYTES;
	if ( false === $raw || strlen( $raw ) <= $length ) {
		return null;
	}
	$secret = sodium_crypto_aead_xchacha20poly1305_ietf_decrypt( substr( $raw, $length ), $purpose, substr( $raw, 0, $length ), sealing_key() );
	return false === $secret ? null : $secret;
}
