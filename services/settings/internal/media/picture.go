package media

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
	"time"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // image.Decode reads WebP

	"frontdesk/libs/fault"
)

const (
	// mostPixels bounds the memory of decoding: at most 8 bytes a pixel.
	mostPixels = 8_000_000
	// longestSide is that of a stored picture; longer ones are made smaller.
	longestSide = 1024
	// decoding is how long one picture may take. A JPEG of a few kilobytes can ask for thousands of passes.
	decoding = 5 * time.Second
)

// pictureTypes are the media types of a picture that is sent.
var pictureTypes = []string{"image/png", "image/jpeg", "image/webp"}

// picture is a picture as this service has encoded it.
type picture struct {
	Kind          string // png or jpg
	Width, Height int
	Body          []byte
}

// encodePicture decodes a picture and encodes it again, so that nothing but its pixels is kept. A broken file, another
// format or too many pixels is 400.
func encodePicture(sent []byte) (picture, error) {
	config, format, err := image.DecodeConfig(bytes.NewReader(sent))
	if err != nil || !slices.Contains([]string{"png", "jpeg", "webp"}, format) {
		return picture{}, fault.Invalid("file", fault.NewProblem("picture", "must be a PNG, JPEG or WebP"))
	}
	if config.Width < 1 || config.Height < 1 || config.Width > mostPixels/config.Height {
		return picture{}, fault.Invalid("file", fault.NewProblem("too_many_pixels", fmt.Sprintf("must have at most %d pixels", mostPixels), "max", mostPixels))
	}
	decoded, _, err := image.Decode(&bounded{from: bytes.NewReader(sent), until: time.Now().Add(decoding)})
	if errors.Is(err, errSlow) {
		return picture{}, fault.Invalid("file", fault.NewProblem("picture", "takes too long to decode"))
	}
	if err != nil {
		return picture{}, fault.Invalid("file", fault.NewProblem("picture", "is broken: "+err.Error()))
	}
	p := picture{Kind: "png"}
	if format == "jpeg" {
		p.Kind = "jpg"
	}
	small := image.NewNRGBA(fitted(decoded.Bounds()))
	draw.CatmullRom.Scale(small, small.Bounds(), decoded, decoded.Bounds(), draw.Src, nil)
	p.Width, p.Height = small.Bounds().Dx(), small.Bounds().Dy()
	var out bytes.Buffer
	if p.Kind == "jpg" {
		err = jpeg.Encode(&out, small, &jpeg.Options{Quality: 90})
	} else {
		err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, small)
	}
	p.Body = out.Bytes()
	return p, err
}

// fitted is a rectangle of the same shape whose sides are at most longestSide.
func fitted(r image.Rectangle) image.Rectangle {
	w, h := r.Dx(), r.Dy()
	if longest := max(w, h); longest > longestSide {
		w, h = max(1, w*longestSide/longest), max(1, h*longestSide/longest)
	}
	return image.Rect(0, 0, w, h)
}

var errSlow = errors.New("settings: decoding takes too long")

// bounded is a reader that fails after a moment. Decoders read while they decode, so this ends one that takes too long.
type bounded struct {
	from  io.Reader
	until time.Time
}

func (b *bounded) Read(to []byte) (int, error) {
	if time.Now().After(b.until) {
		return 0, errSlow
	}
	return b.from.Read(to)
}
