#include "snapshot/output_file.hpp"

#include "snapshot/checksum.hpp"
#include "snapshot/failure.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace kvindex::snapshot {

output_file::output_file(std::string path) : m_path(std::move(path)), m_part(m_path + ".part") {
    m_file = ::open(m_part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    if (m_file < 0) {
        fail("cannot create");
    }
    try {
        const file_head head{magic, version, 0};
        write(&head, sizeof head);
    } catch (...) {
        ::close(m_file);
        ::unlink(m_part.c_str());
        throw;
    }
}

output_file::~output_file() {
    if (m_file >= 0) {
        ::close(m_file);
        ::unlink(m_part.c_str());
    }
}

void output_file::fail(const char* what) const {
    throw failed(std::string(what) + " " + m_part + ": " + std::generic_category().message(errno));
}

void output_file::write(const void* from, std::size_t bytes) {
    const auto* at = static_cast<const char*>(from);
    for (std::size_t left = bytes; left != 0;) {
        const ssize_t done = ::write(m_file, at, left);
        if (done < 0 && errno != EINTR) {
            fail("cannot write");
        }
        const std::size_t step = done < 0 ? 0 : static_cast<std::size_t>(done);
        at += step;
        left -= step;
    }
    m_bytes += bytes;
}

void output_file::write_section(section_kind kind, std::uint32_t part, std::span<const std::byte> payload) {
    section_head head{static_cast<std::uint32_t>(kind), m_sections++, part, 0, payload.size(), 0};
    head.checksum = checksum_of(head, payload.data());
    write(&head, sizeof head);
    write(payload.data(), payload.size());
}

void output_file::finish() {
    if (::fsync(m_file) != 0) {
        fail("cannot sync");
    }
    if (::rename(m_part.c_str(), m_path.c_str()) != 0) {
        fail("cannot rename");
    }
    ::close(m_file);
    m_file = -1;
    // The name is durable once the folder is; where folders cannot be synced, the file is still whole.
    const std::size_t slash = m_path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : m_path.substr(0, slash + 1);
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)::fsync(fd);
        ::close(fd);
    }
}

} // namespace kvindex::snapshot
