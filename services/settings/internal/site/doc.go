// Package site keeps what holds for the whole site, as documents on settings.site: the business, the portal and its host, how forms look,
// privacy, and which roles reach the API.
package site
