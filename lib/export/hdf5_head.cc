#include "export/hdf5_head.h"

#include <dlfcn.h>
#include <hdf5.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/checked_math.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

#define OCTAVO_HDF5_SYMBOLS(visit)                                                                                  \
  visit(H5open) visit(H5Eset_auto2) visit(H5Idec_ref) visit(H5Pcreate) visit(H5Pset_fapl_core)                      \
      visit(H5Pset_file_image_callbacks) visit(H5Pset_layout) visit(H5Pset_alloc_time) visit(H5Pset_fill_time)      \
          visit(H5Pset_obj_track_times) visit(H5Fcreate) visit(H5Screate) visit(H5Screate_simple) visit(H5Acreate2) \
              visit(H5Awrite) visit(H5Dcreate2) visit(H5Dget_offset) visit(H5T_IEEE_F32LE_g) visit(H5T_STD_I64LE_g) \
                  visit(H5T_NATIVE_INT64_g) visit(H5P_CLS_FILE_ACCESS_ID_g) visit(H5P_CLS_DATASET_CREATE_ID_g)

// The library's functions, and its ids of types and classes, which are valid after H5open.
struct Library {
#define OCTAVO_DECLARE(name) decltype(&::name) name = nullptr;
  OCTAVO_HDF5_SYMBOLS(OCTAVO_DECLARE)
#undef OCTAVO_DECLARE
};

absl::StatusOr<Library> LoadLibrary() {
  void* handle = ::dlopen(OCTAVO_HDF5_LIBRARY, RTLD_NOW | RTLD_LOCAL);  // never unloaded: not supported
  if (handle == nullptr) {
    return RuntimeError(
        fmt::format("format hdf5: {}; expected the HDF5 library {} to be installed", ::dlerror(), OCTAVO_HDF5_LIBRARY));
  }
  Library library;
  const auto missing = [](const char* name) {
    return RuntimeError(fmt::format("format hdf5: {} has no {}; expected HDF5 1.10", OCTAVO_HDF5_LIBRARY, name));
  };
#define OCTAVO_RESOLVE(name)                                                       \
  library.name = reinterpret_cast<decltype(library.name)>(::dlsym(handle, #name)); \
  if (library.name == nullptr) return missing(#name);
  OCTAVO_HDF5_SYMBOLS(OCTAVO_RESOLVE)
#undef OCTAVO_RESOLVE
  if (library.H5open() < 0) return RuntimeError("format hdf5: the HDF5 library cannot be initialised");
  library.H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // it would print errors
  return library;
}

// An id of any object of the library; closed by the destructor.
class Handle {
 public:
  Handle(const Library& library, hid_t id) : library_(library), id_(id) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (id_ >= 0) library_.H5Idec_ref(id_);
  }
  operator hid_t() const { return id_; }  // NOLINT: it represents the id

 private:
  const Library& library_;
  const hid_t id_;
};

// The memory in which the library makes the file. Requests for the rows' space fail, as no rows are written.
struct Image {
  static constexpr std::size_t kMaxBytes = 64 << 10;
  std::string bytes;  // set when the file is closed
  std::size_t size = 0;

  static void* Allocate(std::size_t size, H5FD_file_image_op_t, void*) { return std::malloc(size); }
  static void* Resize(void* memory, std::size_t size, H5FD_file_image_op_t, void* image) {
    if (size > kMaxBytes) return nullptr;
    static_cast<Image*>(image)->size = size;
    return std::realloc(memory, size);
  }
  static herr_t Free(void* memory, H5FD_file_image_op_t operation, void* image) {
    auto* self = static_cast<Image*>(image);
    if (operation == H5FD_FILE_IMAGE_OP_FILE_CLOSE) self->bytes.assign(static_cast<const char*>(memory), self->size);
    std::free(memory);
    return 0;
  }
  static void* Share(void* image) { return image; }
  static herr_t Unshare(void*) { return 0; }
};

// Makes the file in `image` and returns the offset of the rows.
absl::StatusOr<std::uint64_t> MakeImage(const Library& hdf5, std::uint64_t rows, std::size_t columns, Image& image) {
  const absl::Status failed = RuntimeError("format hdf5: the HDF5 library cannot make the file");
  const Handle access(hdf5, hdf5.H5Pcreate(*hdf5.H5P_CLS_FILE_ACCESS_ID_g));
  H5FD_file_image_callbacks_t callbacks = {Image::Allocate, nullptr,        Image::Resize, Image::Free,
                                           Image::Share,    Image::Unshare, &image};
  if (hdf5.H5Pset_fapl_core(access, 1, /*backing_store=*/0) < 0) return failed;
  if (hdf5.H5Pset_file_image_callbacks(access, &callbacks) < 0) return failed;
  constexpr unsigned kTruncate = 2;  // the value of H5F_ACC_TRUNC, a macro that calls the library
  const Handle file(hdf5, hdf5.H5Fcreate("embeddings", kTruncate, H5P_DEFAULT, access));
  const Handle scalar(hdf5, hdf5.H5Screate(H5S_SCALAR));
  const Handle version(
      hdf5, hdf5.H5Acreate2(file, "format_version", *hdf5.H5T_STD_I64LE_g, scalar, H5P_DEFAULT, H5P_DEFAULT));
  constexpr std::int64_t kFormatVersion = 1;
  if (hdf5.H5Awrite(version, *hdf5.H5T_NATIVE_INT64_g, &kFormatVersion) < 0) return failed;
  const Handle creation(hdf5, hdf5.H5Pcreate(*hdf5.H5P_CLS_DATASET_CREATE_ID_g));
  if (hdf5.H5Pset_layout(creation, H5D_CONTIGUOUS) < 0) return failed;
  if (hdf5.H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY) < 0) return failed;
  if (hdf5.H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER) < 0) return failed;
  if (hdf5.H5Pset_obj_track_times(creation, false) < 0) return failed;  // so that the bytes do not depend on the time
  const std::array<hsize_t, 2> shape = {rows, columns};
  const Handle space(hdf5, hdf5.H5Screate_simple(2, shape.data(), nullptr));
  const Handle dataset(
      hdf5, hdf5.H5Dcreate2(file, "embeddings", *hdf5.H5T_IEEE_F32LE_g, space, H5P_DEFAULT, creation, H5P_DEFAULT));
  if (dataset < 0) return failed;
  return hdf5.H5Dget_offset(dataset);
}

}  // namespace

absl::StatusOr<std::string> MakeHdf5Head(std::uint64_t rows, std::size_t columns) {
  static const absl::StatusOr<Library> library = LoadLibrary();
  RETURN_IF_ERROR(library.status());
  Image image;
  ASSIGN_OR_RETURN(const std::uint64_t offset, MakeImage(*library, rows, columns, image));
  std::string head = std::move(image.bytes);
  // Sets the end of the file in the superblock (HDF5 File Format Specification, version 0): just after the rows.
  constexpr std::size_t kEndOfFile = 40;
  std::uint64_t end = 0;
  if (head.size() >= kEndOfFile + sizeof(end)) std::memcpy(&end, head.data() + kEndOfFile, sizeof(end));
  const auto row_bytes = CheckedMultiply(rows * columns, sizeof(float));
  if (row_bytes && offset >= head.size() && end == CheckedAdd(offset, *row_bytes)) {
    head.resize(offset);
    return head;
  }
  return RuntimeError(
      fmt::format("format hdf5: the HDF5 library has laid out {} bytes of head, rows from byte {} on and "
                  "an end at byte {}; expected the head, then the rows, and nothing else",
                  head.size(), offset, end));
}

}  // namespace octavo
