// Keeps the campaign that a visitor came by for the rest of the visit: the widgets send the address of their page, and it is written into that.
( () => {
	const ours = /^utm_(source|medium|campaign|term|content|id)$/;
	const now = new URL( location.href );
	const here = [ ...now.searchParams ].filter( ( [ name ] ) => ours.test( name ) );
	try {
		if ( here.length ) return sessionStorage.setItem( 'frontdesk-campaign', JSON.stringify( here ) );
		if ( ! document.querySelector( 'svc-booking, svc-form' ) ) return;
		for ( const [ name, value ] of JSON.parse( sessionStorage.getItem( 'frontdesk-campaign' ) ?? '[]' ) ) if ( ours.test( name ) ) now.searchParams.set( name, value );
		if ( now.href !== location.href ) history.replaceState( history.state, '', now );
	} catch {
		// A browser that keeps nothing for sites.
	}
} )();
