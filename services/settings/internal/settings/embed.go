package settings

import (
	"context"
	"errors"
	"strings"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
)

// embedded tells the sender of an EmbedInPage which page it became.
type embedded struct {
	RequestID string `json:"request_id"`
	Created   bool   `json:"created"`
}

// embedInPage appends a shortcode to a page, or makes a page of it. The sender has checked the title and
// that the page exists; a page that was deleted since gets no answer.
func (s *service) embedInPage(ctx context.Context, tx *db.Tx, in *proto.EmbedInPage) error {
	if in.GetPageId() == 0 {
		p := page{Title: in.GetNewPageTitle(), Content: in.GetShortcode()}
		if in.GetPublish() {
			p.Status = statusPublished
		}
		p, err := s.newPage(ctx, tx, p, nil)
		if err != nil {
			return dropRefused(err)
		}
		return s.emitPage(ctx, tx, "page.created", p, nil, embedded{in.GetRequestId(), true})
	}
	p, err := onePage(ctx, tx, `select `+pageColumns+` from page where id = $1 for update`, in.GetPageId())
	if err != nil {
		return dropRefused(err)
	}
	p.Content = strings.TrimRight(p.Content, "\n")
	if p.Content != "" {
		p.Content += "\n\n"
	}
	p.Content += in.GetShortcode()
	_, err = s.savePage(ctx, tx, p, []string{"content"}, embedded{in.GetRequestId(), false})
	return err
}

// dropRefused lets a command that cannot be done pass: trying again would not help.
func dropRefused(err error) error {
	var f *fault.Fault
	if errors.As(err, &f) {
		return nil
	}
	return err
}
