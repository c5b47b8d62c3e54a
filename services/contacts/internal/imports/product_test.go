package imports

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/services/contacts/contactstest"
)

// products are files as other products write them, with people of our own.
var products = []struct {
	name, text string
	// people are first and last name, address, number, organization and tags, by first name.
	people []string
}{
	{"Google Contacts", "First Name,Middle Name,Last Name,Nickname,File As,Organization Name,Organization Title,Birthday,Notes,Photo,Labels,E-mail 1 - Label,E-mail 1 - Value,E-mail 2 - Label,E-mail 2 - Value,Phone 1 - Label,Phone 1 - Value\n" +
		"Rona,,Claes,,,Acme,Boss,,,,* myContacts ::: VIP ::: * starred,* Work,rona@example.com ::: rona2@example.com,,,Mobile,+32 470 12 34 56 ::: +32 9 123 45 67\n" +
		"Bo,,Smit,,,,,,,,* myContacts,,,Home,bo@example.com,,\n",
		[]string{"Bo|Smit|bo@example.com|||[]", "Rona|Claes|rona@example.com|+32 470 12 34 56|Acme|[VIP]"}},
	{"Outlook", "First Name,Middle Name,Last Name,Company,Job Title,Business Street,Home City,Business Phone,Home Phone,Mobile Phone,Primary Phone,E-mail Address,E-mail Type,E-mail Display Name,E-mail 2 Address,Categories\n" +
		"Ann,,Maes,Acme,,,Gent,,09 123 45 67,0470 12 34 56,,,SMTP,Ann Maes,ann@example.com,VIP;Horeca\nBo,,Smit,,,,,,,0471 12 34 56,,bo@example.com,SMTP,,,\n",
		[]string{"Ann|Maes|ann@example.com|+3291234567|Acme|[VIP Horeca]", "Bo|Smit|bo@example.com|+32471123456||[]"}},
	{"Apple", "BEGIN:VCARD\r\nVERSION:3.0\r\nPRODID:-//Apple Inc.//macOS 14.4//EN\r\nN:Maes;Ann;;;\r\nFN:Ann Maes\r\nORG:Acme;\r\nEMAIL;type=INTERNET;type=HOME;type=pref:ann@example.com\r\n" +
		"TEL;type=CELL;type=VOICE;type=pref:\u202d0470 12 34 56\u202c\r\nCATEGORIES:VIP\r\nEND:VCARD\r\n", []string{"Ann|Maes|ann@example.com|+32470123456|Acme|[VIP]"}},
	{"HubSpot", "Record ID,First Name,Last Name,Email,Phone Number,Contact owner,Associated Company,Lead Status,Lifecycle Stage,Create Date\n" +
		"1,Ann,Maes,ann@example.com,+32470123456,,Acme,NEW,Lead,2026-01-02 10:00\n2,Bo,Smit,bo@example.com,,,,OPEN_DEAL,Marketing Qualified Lead,2026-01-02 10:00\n3,Cas,Vos,cas@example.com,,,,,Customer,\n",
		[]string{"Ann|Maes|ann@example.com|+32470123456|Acme|[]", "Bo|Smit|bo@example.com|||[]", "Cas|Vos|cas@example.com|||[]"}},
	{"Mailchimp", "Email Address,First Name,Last Name,Address,Phone Number,Birthday,MEMBER_RATING,OPTIN_TIME,STATUS,NOTES,TAGS\n" +
		"ann@example.com,Ann,Maes,,,,2,2026-01-02 10:00:00,subscribed,,\"\"\"VIP\"\",\"\"Blog, news\"\"\"\n", []string{"Ann|Maes|ann@example.com|||[VIP Blog, news]"}},
	{"ActiveCampaign", "Contact ID,Email,First Name,Last Name,Phone,Account,Tags,Status,Date Created\n7,ann@example.com,Ann,Maes,0470 12 34 56,Acme,\"VIP, Blog\",Unsubscribed,2026-01-02\n",
		[]string{"Ann|Maes|ann@example.com|+32470123456|Acme|[VIP Blog]"}},
	{"Brevo", "CONTACT ID;EMAIL;VORNAME;NACHNAME;SMS;WHATSAPP;OPT_IN;ADDED_TIME\n7;ann@example.com;Ann;Maes;32470123456;;;02-01-2026\n", []string{"Ann|Maes|ann@example.com|32470123456||[]"}},
	{"LinkedIn", "\ufeffNotes:\n\"When exporting your connection data, you may notice that some of the email addresses are missing. You will only see \"\"shared\"\" ones.\"\n\n" +
		"First Name,Last Name,URL,Email Address,Company,Position,Connected On\nAnn,Maes,https://www.example.com/in/ann,ann@example.com,\"Acme, Inc\",Boss,02 Jan 2026\nBo,Smit,https://www.example.com/in/bo,,,,02 Jan 2026\n",
		[]string{"Ann|Maes|ann@example.com||Acme, Inc|[]", "Bo|Smit||||[]"}},
	{"Pipedrive", "Person - Name,Person - Label,Person - Organization,Person - Email - Work,Person - Email - Home,Person - Phone - Work,Person - Phone - Mobile,Person - Owner\n" +
		"Ann Maes,\"VIP, Warm\",Acme,,ann@example.com,,0470 12 34 56,Somebody Else\n", []string{"Ann Maes||ann@example.com|+32470123456|Acme|[VIP Warm]"}},
	{"Shopify", "Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Default Address Company,Default Address Address1,Default Address Phone,Phone,Accepts SMS Marketing,Total Spent,Total Orders,Note,Tax Exempt,Tags\n" +
		"'123,Ann,Maes,ann@example.com,yes,Acme,Kerkstraat 1,'+32470123456,,no,12.50,1,,no,\"vip, newsletter\"\n", []string{"Ann|Maes|ann@example.com|+32470123456|Acme|[vip newsletter]"}},
	{"WooCommerce", "Name,Username,Last Active,Date Registered,Email,Orders,Total Spend,AOV,Country / Region,City,Region,Postal Code\nAnn Maes,ann,2026-01-02,2026-01-02,ann@example.com,1,12.50,12.50,BE,Gent,,9000\n",
		[]string{"Ann Maes||ann@example.com|||[]"}},
	{"Cal.com", "id,title,status,startTime,endTime,userEmail,Attendee Name,Attendee Email\n1,30 min,ACCEPTED,2026-01-02T10:00:00Z,2026-01-02T10:30:00Z,host@example.com,Ann Maes,ann@example.com\n",
		[]string{"Ann Maes||ann@example.com|||[]"}},
	{"Easy!Appointments", "id,first_name,last_name,email,phone_number,address,city,zip_code,notes,timezone,language\n4,Ann,Maes,ann@example.com,0470 12 34 56,Kerkstraat 1,Gent,9000,,Europe/Brussels,english\n",
		[]string{"Ann|Maes|ann@example.com|+32470123456||[]"}},
	{"our own", "id,first_name,last_name,email,phone,status,marketing,source,owner,tags,organization,role,last_activity,created_at,updated_at\n" +
		"0197,Ann,Maes,ann@example.com,+32470123456,customer,none,Fair,,\"VIP, \"\"Gent, centrum\"\"\",Acme,,,,\n", []string{"Ann|Maes|ann@example.com|+32470123456|Acme|[VIP Gent, centrum]"}},
	{"a list without names", "Ann;Maes;ann@example.com;0470 12 34 56\nBo;Smit;bo@example.com;\n", []string{"Ann|Maes|ann@example.com|+32470123456||[]", "Bo|Smit|bo@example.com|||[]"}},
}

func TestFilesOfOtherProductsAreImportedAsTheyAre(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.SetSite("general", object{"country": "BE"})
	for _, p := range products {
		t.Run(p.name, func(t *testing.T) {
			contactstest.Afresh(t, s)
			admin := s.As("svc_admin")
			a := imported(t, s, admin, p.text)
			summed(t, a)
			require.EqualValues(t, len(p.people), a.Field("totals.created"), a.Body)
			var got []string
			for _, c := range admin.Get("/contacts?per_page=50").Is(200).Items() {
				organization := ""
				if o, ok := c["organization"].(map[string]any); ok {
					organization = o["name"].(string)
				}
				got = append(got, fmt.Sprintf("%s|%s|%s|%s|%s|%v", c["first_name"], c["last_name"], c["email"], c["phone"], organization, c["tags"]))
			}
			require.ElementsMatch(t, p.people, got)
		})
	}
}

func TestAFileNamesOrganizationsAndOwners(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As("svc_admin")
	there := admin.Post("/organizations", object{"name": "Acme NV"}).Is(201).Text("id")
	has := admin.Post("/contacts", object{"email": "has@example.com"}).Is(201).Text("id")
	a := imported(t, s, admin, "email,company,owner\nann@example.com,ACME,nobody@example.com\nbo@example.com,Bakkerij Peeters BV,\ncas@example.com,bakkerij  peeters,\nhas@example.com,Acme,\nhas@example.com,Other,\n")
	require.Equal(t, object{"rows": 5.0, "created": 3.0, "updated": 1.0, "skipped": 1.0, "failed": 0.0, "cells": 1.0}, a.Field("totals"))
	require.Equal(t, []any{"owner", "not_on_team"}, []any{a.Field("errors.0.column"), a.Field("errors.0.details.code")})
	ann := found(t, admin, "ann@example.com")
	require.Equal(t, []any{there, "Acme NV"}, []any{ann.Field("organization.id"), ann.Field("organization.name")})
	require.Equal(t, found(t, admin, "bo@example.com").Field("organization.id"), found(t, admin, "cas@example.com").Field("organization.id"))
	require.EqualValues(t, 2, admin.Get("/organizations").Is(200).Field("total"))
	require.EqualValues(t, 2, admin.Get("/organizations/"+there).Is(200).Field("contacts_count"))
	require.Equal(t, there, admin.Get("/contacts/"+has).Is(200).Field("organization.id"), "of several rows the first counts")
	require.Equal(t, "linked", admin.Get("/contacts/" + has + "/activities").Is(200).Items()[0]["type"])
	imported(t, s, admin, "email,company\nhas@example.com,Other\n")
	require.Equal(t, there, admin.Get("/contacts/"+has).Is(200).Field("organization.id"), "who has a primary organization keeps it")
	contactstest.Finished(s, admin, begin(t, admin, "email,company\nhas@example.com,Other\n", object{"options": object{"duplicates": "overwrite"}}, nil))
	require.Equal(t, "Other", admin.Get("/contacts/"+has).Is(200).Field("organization.name"))
}
