package auth

// Permissions, as roles hold them. Every one requires ViewContacts as well.
const (
	ManageCRM          = "svc_manage_crm"
	ViewContacts       = "svc_view_contacts"
	EditContacts       = "svc_edit_contacts"
	DeleteContacts     = "svc_delete_contacts"
	ImportContacts     = "svc_import_contacts"
	ExportContacts     = "svc_export_contacts"
	ManageBookings     = "svc_manage_bookings"
	ManageForms        = "svc_manage_forms"
	ManageIntegrations = "svc_manage_integrations"
)

// Permissions lists all of them, in the order in which they are shown.
var Permissions = []string{ManageCRM, ViewContacts, EditContacts, DeleteContacts, ImportContacts,
	ExportContacts, ManageBookings, ManageForms, ManageIntegrations}

// SiteAdmin is the role that holds every permission and cannot be changed.
const SiteAdmin = "site_admin"
