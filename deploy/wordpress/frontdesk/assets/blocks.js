// The blocks in the editor: a preview as the server renders it, and what it shows as choices beside it.
( ( { blocks, blockEditor, components, element, serverSideRender }, { services, staff, forms, words } ) => {
	const h = element.createElement;
	const { InspectorControls, useBlockProps } = blockEditor;
	const { PanelBody, SelectControl, Placeholder, Disabled } = components;
	const supports = { html: false, align: [ 'wide', 'full' ] };

	// A choice that is gone from Frontdesk stays in the list, so that opening a page changes nothing.
	const choices = ( first, items, id, now ) => {
		const all = items.map( ( item ) => ( { value: String( item[ id ] ), label: item.name } ) );
		const known = ! now || all.some( ( o ) => o.value === String( now ) );
		return [ { value: '', label: first }, ...all, ...( known ? [] : [ { value: String( now ), label: String( now ) } ] ) ];
	};
	const select = ( props ) => h( SelectControl, { __nextHasNoMarginBottom: true, __next40pxDefaultSize: true, ...props } );
	const preview = ( block, attributes ) => h( Disabled, null, h( serverSideRender, { block, attributes } ) );

	blocks.registerBlockType( 'frontdesk/booking', {
		title: words.booking,
		description: words.bookingDoc,
		supports,
		edit: ( { attributes, setAttributes } ) => h( 'div', useBlockProps(),
			h( InspectorControls, null, h( PanelBody, { title: words.what },
				select( { label: words.service, value: attributes.service, options: choices( words.allOf, services, 'id', attributes.service ), onChange: ( service ) => setAttributes( { service } ) } ),
				select( { label: words.person, value: String( attributes.staff || '' ), options: choices( words.anybody, staff, 'user_id', attributes.staff ), onChange: ( id ) => setAttributes( { staff: Number( id ) || 0 } ) } ) ) ),
			preview( 'frontdesk/booking', attributes ) ),
		save: () => null,
	} );

	blocks.registerBlockType( 'frontdesk/form', {
		title: words.form,
		description: words.formDoc,
		supports,
		edit: ( { attributes, setAttributes } ) => {
			const choice = select( { label: words.whichForm, value: String( attributes.id || '' ), options: choices( words.choose, forms, 'id', attributes.id ), onChange: ( id ) => setAttributes( { id: Number( id ) || 0 } ) } );
			return h( 'div', useBlockProps(),
				h( InspectorControls, null, h( PanelBody, { title: words.what }, choice ) ),
				attributes.id ? preview( 'frontdesk/form', attributes ) : h( Placeholder, { icon: 'feedback', label: words.form }, choice ) );
		},
		save: () => null,
	} );
} )( window.wp, window.frontdesk );
