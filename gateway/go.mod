module frontdesk/gateway

go 1.26.0

replace frontdesk => ../
