package media

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// drawn is a picture of this size with a transparent corner.
func drawn(width, height int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.SetNRGBA(x, y, color.NRGBA{R: uint8(x), G: uint8(y), B: 90, A: 255})
		}
	}
	m.SetNRGBA(0, 0, color.NRGBA{})
	return m
}

func pngOf(t testing.TB, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, drawn(width, height)))
	return b.String()
}

func jpegOf(t testing.TB, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, drawn(width, height), nil))
	return b.String()
}

// webp is a lossless WebP of one red pixel.
const webp = "RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"

// upload sends a picture as the body.
func upload(c *apptest.Client, kind, body string) *apptest.Answer {
	return c.With("Content-Type", kind).Post("/media", body)
}

// file asks for a picture as a visitor's browser does.
func file(t *testing.T, s *apptest.Service, url string) (*http.Response, string) {
	t.Helper()
	_, path, _ := strings.Cut(url, "/_ui/")
	res, err := http.Get(s.URL + "/_ui/" + path)
	require.NoError(t, err)
	defer res.Body.Close()
	var body bytes.Buffer
	_, err = body.ReadFrom(res.Body)
	require.NoError(t, err)
	return res, body.String()
}

func TestAPictureIsUploadedOnceAndEncodedAnew(t *testing.T) {
	t.Parallel()
	s := apptest.StartRooms(t, "settings", func(k *app.Kit, set *op.Set) []app.Room {
		r := New(k, func(context.Context, *db.Tx) (*int64, error) { return nil, nil })
		r.Operations(set)
		parts := r.Parts()
		parts.PagePaths, parts.Pages = []*proto.Page{{Path: Path}}, http.HandlerFunc(r.Show)
		return []app.Room{{Name: "media", Parts: parts}}
	})
	c := s.As("site_admin")
	t.Run("what is no picture or too large is refused", func(t *testing.T) {
		var moving bytes.Buffer
		require.NoError(t, gif.Encode(&moving, drawn(4, 4), nil))
		whole := pngOf(t, 60, 60)
		for name, sent := range map[string]struct{ body, code string }{
			"svg":                  {`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`, "picture"},
			"gif":                  {moving.String(), "picture"},
			"text":                 {"hello", "picture"},
			"cut off":              {whole[:len(whole)/2], "picture"},
			"only its header":      {whole[:33], "picture"},
			"a bomb":               {withSize(whole, 60_000, 60_000), "too_many_pixels"},
			"a bomb on one side":   {withSize(whole, 1, 1<<31-1), "too_many_pixels"},
			"a JPEG bomb":          {bombJPEG(t), "too_many_pixels"},
			"WebP with two sizes":  {canvasOf1(webp, 9000), "picture"},
			"larger than its data": {withSize(whole, 2000, 2000), "picture"},
		} {
			t.Run(name, func(t *testing.T) {
				a := upload(c, "image/png", sent.body).Fails(400, "svc_invalid_param")
				require.Equal(t, sent.code, a.Field("data.details.file.code"), a.Body)
			})
		}
		upload(c, "image/svg+xml", "<svg/>").Fails(415, "svc_unsupported_media_type")
		upload(c, "application/json", "{}").Fails(415, "svc_unsupported_media_type")
		upload(c, "image/png", "").Fails(400, "svc_invalid_param")
		upload(c, "image/png", strings.Repeat("x", 1<<20+1)).Fails(413, "svc_too_large")
		require.Empty(t, c.Get("/media").Is(200).Items())
	})
	t.Run("a repeated upload is one picture", func(t *testing.T) {
		c := c.With("Idempotency-Key", "logo-1")
		first := upload(c, "image/png", pngOf(t, 20, 20)).Is(201)
		require.Equal(t, first.Field("id"), upload(c, "image/png", pngOf(t, 20, 20)).Is(201).Field("id"))
		upload(c, "image/png", pngOf(t, 21, 20)).Fails(409, "svc_idempotency_conflict")
		require.Len(t, c.Get("/media").Is(200).Items(), 1)
	})
	t.Run("a picture is encoded anew and shown to everybody", func(t *testing.T) {
		for name, sent := range map[string]struct{ kind, body, stored, suffix string }{
			"png":                      {"image/png", pngOf(t, 40, 30), "image/png", ".png"},
			"jpeg":                     {"image/jpeg", jpegOf(t, 40, 30), "image/jpeg", ".jpg"},
			"webp":                     {"image/webp", webp, "image/png", ".png"},
			"with something behind it": {"image/png", pngOf(t, 40, 30) + "<script>alert(1)</script>", "image/png", ".png"},
			"called a PNG":             {"image/png", jpegOf(t, 40, 30), "image/jpeg", ".jpg"},
		} {
			t.Run(name, func(t *testing.T) {
				made := upload(c, sent.kind, sent.body).Is(201)
				require.True(t, strings.HasSuffix(made.Text("url"), sent.suffix), made.Body)
				res, shown := file(t, s, made.Text("url"))
				require.Equal(t, http.StatusOK, res.StatusCode)
				require.Equal(t, sent.stored, res.Header.Get("Content-Type"))
				require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
				require.Contains(t, res.Header.Get("Cache-Control"), "immutable")
				require.NotContains(t, shown, "script")
				config, _, err := image.DecodeConfig(strings.NewReader(shown))
				require.NoError(t, err)
				require.InDelta(t, made.Field("width"), config.Width, 0)
				require.InDelta(t, made.Field("height"), config.Height, 0)
			})
		}
		var m struct {
			ID  int64
			URL string
		}
		upload(c, "image/png", pngOf(t, 3000, 20)).Is(201).Into(&m)
		require.Equal(t, fmt.Sprint(longestSide), fmt.Sprint(c.Get(fmt.Sprint("/media/", m.ID)).Is(200).Field("width")))
		res, _ := file(t, s, strings.Replace(m.URL, fmt.Sprint(m.ID, "-"), "999999-", 1))
		require.Equal(t, http.StatusNotFound, res.StatusCode)
	})
	t.Run("a picture may come as a field of a form", func(t *testing.T) {
		send := func(fields ...string) *apptest.Answer {
			var b bytes.Buffer
			w := multipart.NewWriter(&b)
			for _, field := range fields {
				h := textproto.MIMEHeader{}
				h.Set("Content-Disposition", fmt.Sprintf(`form-data; name="%s"; filename="C:\\logos\\our logo.png"`, field))
				part, err := w.CreatePart(h)
				require.NoError(t, err)
				_, err = part.Write([]byte(pngOf(t, 20, 20)))
				require.NoError(t, err)
			}
			require.NoError(t, w.Close())
			return upload(c, w.FormDataContentType(), b.String())
		}
		require.Equal(t, "our logo.png", send("file").Is(201).Text("name"))
		require.Equal(t, "required", send().Fails(400, "svc_invalid_param").Field("data.details.file.code"))
		require.Equal(t, "twice", send("file", "file").Fails(400, "svc_invalid_param").Field("data.details.file.code"))
		require.Equal(t, "unknown", send("other").Fails(400, "svc_invalid_param").Field("data.details.other.code"))
		upload(c, "multipart/form-data", "x").Fails(400, "svc_invalid_param")
	})
}

// A progressive JPEG can ask for another pass over all its pixels with twenty bytes: decoding has to end long before all are done.
func TestAPictureThatTakesTooLongIsGivenUp(t *testing.T) {
	t.Parallel()
	_, err := encodePicture(slowJPEG(t))
	require.ErrorContains(t, err, "too long", "it reads on to the end otherwise")
}

// withSize is a PNG whose header says another size.
func withSize(whole string, width, height uint32) string {
	b := []byte(whole)
	binary.BigEndian.PutUint32(b[16:], width)
	binary.BigEndian.PutUint32(b[20:], height)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return string(b)
}

// bombJPEG is a JPEG whose header says 65,000 by 65,000.
func bombJPEG(t *testing.T) string {
	t.Helper()
	b := []byte(jpegOf(t, 16, 16))
	at := bytes.Index(b, []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(b[at+5:], 65_000)
	binary.BigEndian.PutUint16(b[at+7:], 65_000)
	return string(b)
}

// canvasOf1 is a lossless WebP whose container says one pixel and whose picture says size by size.
func canvasOf1(whole string, size uint32) string {
	frame := []byte(whole[12:])
	binary.LittleEndian.PutUint32(frame[9:], (size-1)|(size-1)<<14)
	body := "WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + string(frame)
	return "RIFF" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(body)))) + body
}

// slowJPEG is a progressive JPEG of the most pixels with as many passes as fit into the largest body.
func slowJPEG(t *testing.T) []byte {
	t.Helper()
	side := uint16(2828)
	out := []byte{0xff, 0xd8}
	segment := func(marker byte, body ...byte) {
		out = append(out, 0xff, marker)
		out = binary.BigEndian.AppendUint16(out, uint16(len(body)+2))
		out = append(out, body...)
	}
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	segment(0xc2, 8, byte(side>>8), byte(side), byte(side>>8), byte(side), 1, 1, 0x11, 0)
	// One code each: a DC difference of nothing, and a run of 16,384 blocks without anything.
	segment(0xc4, append([]byte{0x00, 1}, make([]byte, 16)...)...)
	segment(0xc4, append(append([]byte{0x10, 1}, make([]byte, 15)...), 0xe0)...)
	pass := []byte{0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0}
	// Each run takes the code and 14 bits of its length.
	pass = append(pass, bytes.Repeat([]byte{0}, 20)...)
	for len(out)+len(pass) < 1<<20 {
		out = append(out, pass...)
	}
	return append(out, 0xff, 0xd9)
}
