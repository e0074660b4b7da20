#include "mapped_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace kvindex::replay {

mapped_file::mapped_file(const std::string& path) : m_path(path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        throw replay_error(path + ": " + std::generic_category().message(errno));
    }
    struct stat about {};
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        close(file);
        throw replay_error(path + ": is not a regular file");
    }
    const auto bytes = static_cast<std::uint64_t>(about.st_size);
    if (bytes == 0 || bytes % 8 != 0) {
        close(file);
        throw replay_error(path + ": has " + std::to_string(bytes) +
                           " bytes, which is not a positive multiple of 8; is it complete?");
    }
    // Read in now: a page fault in the timed part would be charged to the index.
    void* const at = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    const int error = errno;
    close(file);
    if (at == MAP_FAILED) {
        throw replay_error(path + ": cannot be mapped: " + std::generic_category().message(error));
    }
    m_words = static_cast<const std::uint64_t*>(at);
    m_count = bytes / 8;
}

mapped_file::~mapped_file() {
    munmap(const_cast<std::uint64_t*>(m_words), m_count * 8);
}

} // namespace kvindex::replay
