// SPDX-License-Identifier: Apache-2.0
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

// After <cstdio>, which jpeglib.h needs and does not include.
#include <jerror.h>
#include <jpeglib.h>

#include "orientation.hpp"
#include "read_image.hpp"

namespace image_batch {
namespace {

// libjpeg reports an error by a call that may not return. It jumps back into one of the functions below that
// are marked so; those hold plain values only, since a jump runs no destructor.
struct jpeg_reader {
  jpeg_decompress_struct codec{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf back{};
  char message[JMSG_LENGTH_MAX] = {};

  jpeg_reader() = default;
  jpeg_reader(const jpeg_reader&) = delete;
  jpeg_reader& operator=(const jpeg_reader&) = delete;
  ~jpeg_reader() { jpeg_destroy_decompress(&codec); }

  [[noreturn]] void refuse() const { throw bad_picture(std::string("a broken JPEG file: ") + message); }
};

[[noreturn]] void jump_back(j_common_ptr codec) {
  auto* reader = static_cast<jpeg_reader*>(codec->client_data);
  codec->err->format_message(codec, reader->message);
  std::longjmp(reader->back, 1);
}

// libjpeg only warns of a file that is cut short, and fills in grey. What follows from missing or damaged
// picture data is an error here; odd but harmless headers are not.
void on_message(j_common_ptr codec, int level) {
  if (level >= 0) return;
  switch (codec->err->msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_NOT_SEQUENTIAL:
      jump_back(codec);
    default:
      break;
  }
}

// A small progressive file may name any number of scans, each of which costs a pass over the whole picture.
void on_progress(j_common_ptr codec) {
  constexpr int most_scans = 500;
  auto* reader = static_cast<jpeg_reader*>(codec->client_data);
  if (reader->codec.input_scan_number <= most_scans) return;
  std::snprintf(reader->message, sizeof reader->message, "more than %d scans", most_scans);
  std::longjmp(reader->back, 1);
}

// Jumped back into: plain values only.
bool read_header(jpeg_reader& reader, const std::uint8_t* bytes, std::size_t size) {
  auto& codec = reader.codec;
  codec.err = jpeg_std_error(&reader.errors);
  codec.client_data = &reader;
  reader.errors.error_exit = jump_back;
  reader.errors.emit_message = on_message;
  reader.errors.output_message = [](j_common_ptr) {};
  if (setjmp(reader.back) != 0) return false;
  jpeg_create_decompress(&codec);
  reader.progress.progress_monitor = on_progress;
  codec.progress = &reader.progress;
  jpeg_mem_src(&codec, bytes, size);
  jpeg_save_markers(&codec, JPEG_APP0 + 1, 0xffff);
  jpeg_read_header(&codec, TRUE);
  const bool inks = codec.jpeg_color_space == JCS_CMYK || codec.jpeg_color_space == JCS_YCCK;
  codec.out_color_space = inks ? JCS_CMYK : JCS_RGB;
  return true;
}

// Adobe's files hold what is left of the light instead of the ink.
void inks_to_rgb(const std::uint8_t* inks, std::uint8_t* rgb, int width, bool inverted) {
  for (int x = 0; x < width; ++x, inks += 4) {
    for (int c = 0; c < 3; ++c) {
      const int light = inverted ? inks[c] : 255 - inks[c];
      const int white = inverted ? inks[3] : 255 - inks[3];
      *rgb++ = static_cast<std::uint8_t>((light * white + 127) / 255);
    }
  }
}

// Jumped back into: plain values only. `inks`: room for a row of four channels, or null for an RGB file.
bool read_rows(jpeg_reader& reader, target_view out, std::uint8_t* inks) {
  if (setjmp(reader.back) != 0) return false;
  auto& codec = reader.codec;
  jpeg_start_decompress(&codec);
  while (codec.output_scanline < codec.output_height) {
    auto* rgb = out.row(codec.output_scanline);
    JSAMPROW row = inks != nullptr ? inks : rgb;
    jpeg_read_scanlines(&codec, &row, 1);
    if (inks != nullptr) inks_to_rgb(inks, rgb, out.width, codec.saw_Adobe_marker != 0);
  }
  jpeg_finish_decompress(&codec);
  return true;
}

int orientation_of(const jpeg_decompress_struct& codec) {
  for (auto* marker = codec.marker_list; marker != nullptr; marker = marker->next) {
    const int orientation = exif_orientation({marker->data, marker->data_length});
    if (orientation != 1) return orientation;
  }
  return 1;
}

}  // namespace

image decode_jpeg(std::span<const std::uint8_t> bytes, const read_limits& limits) {
  jpeg_reader reader;
  if (!read_header(reader, bytes.data(), bytes.size())) reader.refuse();
  check_pixel_count(reader.codec.image_width, reader.codec.image_height, limits);
  image result(static_cast<int>(reader.codec.image_width), static_cast<int>(reader.codec.image_height));
  std::vector<std::uint8_t> inks;
  if (reader.codec.out_color_space == JCS_CMYK) inks.resize(static_cast<std::size_t>(result.width) * 4);
  const int orientation = orientation_of(reader.codec);  // the end of reading forgets the markers
  if (!read_rows(reader, result.target(), inks.empty() ? nullptr : inks.data())) reader.refuse();
  return upright(std::move(result), orientation);
}

}  // namespace image_batch
