// SPDX-License-Identifier: Apache-2.0
#include "tests/samples.hpp"

#include <png.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

// After <cstdio>, which jpeglib.h needs and does not include.
#include <jpeglib.h>

namespace image_batch::samples {
namespace {

void append(png_structp png, png_bytep from, std::size_t count) {
  auto* to = static_cast<bytes*>(png_get_io_ptr(png));
  to->insert(to->end(), from, from + count);
}

// Errors end the test program by libpng's own default handler: it aborts where nobody set a place to jump to.
class png_writer {
 public:
  png_writer(int width, int height, const png_kind& kind, bytes& to) {
    png_set_write_fn(png, &to, append, nullptr);
    png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), kind.bit_depth,
                 kind.colour_type, kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (kind.colour_type == PNG_COLOR_TYPE_PALETTE) {
      const png_color palette[] = {{0, 0, 0}, {255, 0, 0}, {0, 255, 0}, {0, 0, 255}};
      const png_byte opacity[] = {255, 128, 255, 0};
      png_set_PLTE(png, info, palette, 4);
      png_set_tRNS(png, info, opacity, 4, nullptr);
    }
    png_write_info(png, info);
  }
  png_writer(const png_writer&) = delete;
  png_writer& operator=(const png_writer&) = delete;
  ~png_writer() { png_destroy_write_struct(&png, &info); }

  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
};

bytes exif_segment(int orientation, bool big_endian) {
  const auto value = static_cast<std::uint8_t>(orientation);
  bytes segment{'E', 'x', 'i', 'f', 0, 0};
  const bytes big{'M', 'M', 0, 42, 0, 0, 0,     8, 0, 1, 0x01, 0x12, 0,
                  3,   0,   0, 0,  1, 0, value, 0, 0, 0, 0,    0,    0};
  const bytes little{'I', 'I', 42, 0, 8, 0,     0, 0, 1, 0, 0x12, 0x01, 3,
                     0,   1,   0,  0, 0, value, 0, 0, 0, 0, 0,    0,    0};
  const auto& tiff = big_endian ? big : little;
  segment.insert(segment.end(), tiff.begin(), tiff.end());
  return segment;
}

// What libjpeg takes in: as many channels as the kind has.
bytes channels_of(const image& picture, jpeg_kind kind) {
  if (kind == jpeg_kind::colour || kind == jpeg_kind::progressive) return picture.pixels;
  bytes result;
  for (std::size_t k = 0; k < picture.pixels.size(); k += 3) {
    if (kind == jpeg_kind::grey) {
      result.push_back(picture.pixels[k]);
    } else {  // as Adobe writes inks: what is left of the light
      result.insert(result.end(), {picture.pixels[k], picture.pixels[k + 1], picture.pixels[k + 2], 255});
    }
  }
  return result;
}

}  // namespace

image noise(int width, int height, unsigned seed) {
  image picture(width, height);
  std::uint32_t state = seed * 2654435761u + 1;
  for (auto& sample : picture.pixels) {
    state = state * 1664525u + 1013904223u;
    sample = static_cast<std::uint8_t>(state >> 24);
  }
  return picture;
}

image quarters(int width, int height) {
  constexpr std::uint8_t colours[4][3] = {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {255, 255, 255}};
  image picture(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const auto& colour = colours[(y >= height / 2 ? 2 : 0) + (x >= width / 2 ? 1 : 0)];
      for (int c = 0; c < 3; ++c) picture.target().row(y)[x * 3 + c] = colour[c];
    }
  }
  return picture;
}

bytes png_file(int width, int height, const png_kind& kind, const bytes& raw) {
  bytes file;
  png_writer writer(width, height, kind, file);
  const auto stride = png_get_rowbytes(writer.png, writer.info);
  if (raw.size() != stride * static_cast<std::size_t>(height))
    throw std::invalid_argument("raw has a wrong size");
  std::vector<png_bytep> rows;
  for (int y = 0; y < height; ++y) {
    rows.push_back(const_cast<png_bytep>(raw.data()) + stride * static_cast<std::size_t>(y));
  }
  png_write_image(writer.png, rows.data());
  png_write_end(writer.png, writer.info);
  return file;
}

bytes png_header(int width, int height) {
  bytes file;
  const png_writer writer(width, height, {PNG_COLOR_TYPE_RGB, 8}, file);
  return file;
}

bytes jpeg_file(const image& picture, jpeg_kind kind, int orientation, bool big_endian) {
  jpeg_compress_struct codec{};
  jpeg_error_mgr errors{};
  codec.err = jpeg_std_error(&errors);  // ends the test program on errors
  jpeg_create_compress(&codec);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&codec, &memory, &size);
  codec.image_width = static_cast<JDIMENSION>(picture.width);
  codec.image_height = static_cast<JDIMENSION>(picture.height);
  codec.input_components = kind == jpeg_kind::grey ? 1 : kind == jpeg_kind::adobe_inks ? 4 : 3;
  codec.in_color_space = kind == jpeg_kind::grey         ? JCS_GRAYSCALE
                         : kind == jpeg_kind::adobe_inks ? JCS_CMYK
                                                         : JCS_RGB;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, 95, TRUE);
  codec.comp_info[0].h_samp_factor = codec.comp_info[0].v_samp_factor = 1;  // colours as sharp as brightness
  if (kind == jpeg_kind::progressive) jpeg_simple_progression(&codec);
  codec.write_Adobe_marker = kind == jpeg_kind::adobe_inks ? TRUE : FALSE;
  jpeg_start_compress(&codec, TRUE);
  if (orientation > 0) {
    const auto segment = exif_segment(orientation, big_endian);
    jpeg_write_marker(&codec, JPEG_APP0 + 1, segment.data(), static_cast<unsigned>(segment.size()));
  }
  auto channels = channels_of(picture, kind);
  const auto stride = channels.size() / static_cast<std::size_t>(picture.height);
  while (codec.next_scanline < codec.image_height) {
    JSAMPROW row = channels.data() + stride * codec.next_scanline;
    jpeg_write_scanlines(&codec, &row, 1);
  }
  jpeg_finish_compress(&codec);
  jpeg_destroy_compress(&codec);
  bytes file(memory, memory + size);
  std::free(memory);
  return file;
}

bytes with_jpeg_size(bytes file, int width, int height) {
  for (std::size_t k = 0; k + 8 < file.size(); ++k) {
    if (file[k] != 0xff || file[k + 1] != 0xc0) continue;
    file[k + 5] = static_cast<std::uint8_t>(height >> 8);
    file[k + 6] = static_cast<std::uint8_t>(height);
    file[k + 7] = static_cast<std::uint8_t>(width >> 8);
    file[k + 8] = static_cast<std::uint8_t>(width);
    return file;
  }
  throw std::invalid_argument("no frame header");
}

void save(const std::filesystem::path& file, const bytes& content) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

bytes load(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

bytes half(bytes file) {
  file.resize(file.size() / 2);
  return file;
}

}  // namespace image_batch::samples
