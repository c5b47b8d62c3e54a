<?php
/**
 * Calls of the installation's API.
 *
 * @package Frontdesk
 */

namespace Frontdesk;

use WP_Error;

defined( 'ABSPATH' ) || exit;

/** Seconds for which a page waits for the installation at most. */
const PATIENCE = 3.0;

/**
 * Calls the API. The answer's JSON, or an error with the API's own code, whose data has the status.
 *
 * @param string                           $method     GET, POST or DELETE.
 * @param string                           $path       The path behind /v1.
 * @param array{0: string, 1: string}|null $credential Login and application password.
 * @param array<string, mixed>|null        $body       The body of a POST.
 * @param float                            $seconds    How long to wait.
 */
function call( string $method, string $path, ?array $credential = null, ?array $body = null, float $seconds = PATIENCE ): mixed {
	$url = options()['url'];
	if ( '' === $url ) {
		return new WP_Error( 'frontdesk_not_connected', __( 'This website is not connected to Frontdesk yet.', 'frontdesk' ), array( 'status' => 503 ) );
	}
	$headers = array( 'Accept' => 'application/json' );
	if ( null !== $credential ) {
		$headers['Authorization'] = 'Basic ' . base64_encode( $credential[0] . ':' . $credential[1] );
	}
	if ( null !== $body ) {
		$headers['Content-Type']    = 'application/json';
		$headers['Idempotency-Key'] = wp_generate_uuid4();
	}
	$answer = wp_remote_request(
		"$url/v1$path",
		array(
			'method'              => $method,
			'timeout'             => $seconds,
			'redirection'         => 0,
			'headers'             => $headers,
			'body'                => null === $body ? null : wp_json_encode( $body ),
			'user-agent'          => 'Frontdesk for WordPress/' . VERSION,
			'limit_response_size' => 8 * MB_IN_BYTES,
		)
	);
	if ( is_wp_error( $answer ) ) {
		return new WP_Error( 'frontdesk_unreachable', __( 'Frontdesk does not answer at its address.', 'frontdesk' ), array( 'status' => 503 ) );
	}
	$status = (int) wp_remote_retrieve_response_code( $answer );
	$text   = wp_remote_retrieve_body( $answer );
	$json   = json_decode( $text, true );
	// A call that waits for somebody's approval is 202 with a code: nothing was done yet.
	$waits = 202 === $status && isset( $json['code'] );
	if ( $status >= 200 && $status < 300 && ! $waits && ( 204 === $status || null !== $json || 'null' === trim( $text ) ) ) {
		return $json;
	}
	if ( is_array( $json ) && is_string( $json['code'] ?? null ) && is_string( $json['message'] ?? null ) ) {
		return new WP_Error(
			$json['code'],
			sanitize_text_field( $json['message'] ),
			array(
				'status'  => $status,
				'details' => $json['data'] ?? null,
			)
		);
	}
	return new WP_Error( 'frontdesk_no_api', __( 'What answers at this address is not Frontdesk.', 'frontdesk' ), array( 'status' => 502 ) );
}
