package settings

import (
	"frontdesk/libs/bus"
	"frontdesk/proto"
)

func (s *service) follows() []bus.Follow {
	return []bus.Follow{
		{Topic: proto.AuditTopic, Handle: takeAudit},
		{Topic: proto.MailTopic, Handle: takeMail},
	}
}
