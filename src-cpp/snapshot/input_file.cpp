#include "snapshot/input_file.hpp"

#include "snapshot/checksum.hpp"
#include "snapshot/failure.hpp"
#include "snapshot/record.hpp"

#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kvindex::snapshot {
namespace {

static_assert(std::endian::native == std::endian::little, "records are read as they lie in the file");

constexpr std::uint32_t max_parts = max_slots / storage::core_slots;

void expect(bool holds, std::uint64_t byte, const std::string& what) {
    if (!holds) {
        throw damaged(byte, what);
    }
}

/// Closes a file whatever happens.
class descriptor {
public:
    explicit descriptor(int file) : m_file(file) {
    }
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;

    ~descriptor() {
        if (m_file >= 0) {
            ::close(m_file);
        }
    }

    int get() const {
        return m_file;
    }

private:
    int m_file;
};

} // namespace

input_file::input_file(const std::string& path) {
    read(path);
    check();
}

void input_file::read(const std::string& path) {
    const auto fail = [&](const char* what) {
        throw failed(std::string(what) + " " + path + ": " + std::generic_category().message(errno));
    };
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
        fail("cannot open");
    }
    if (!S_ISREG(status.st_mode)) {
        throw failed("cannot read " + path + ": not a file");
    }
    file_head head{};
    if (::pread(file.get(), &head, sizeof head, 0) == static_cast<ssize_t>(sizeof head)) {
        expect(head.magic == magic, 0, "not a snapshot of this index"); // before all of it is read
    }
    // Into memory, not mapped: nobody can change it between the check and the use.
    m_bytes = static_cast<std::uint64_t>(status.st_size);
    m_words = std::make_unique_for_overwrite<std::uint64_t[]>(m_bytes / 8 + 1);
    auto* to = reinterpret_cast<char*>(m_words.get());
    for (std::uint64_t left = m_bytes; left != 0;) {
        const ssize_t got = ::read(file.get(), to, left);
        if (got < 0 && errno != EINTR) {
            fail("cannot read");
        }
        if (got == 0) {
            m_bytes -= left; // shorter than it was; the checks will say so
            break;
        }
        to += got < 0 ? 0 : got;
        left -= got < 0 ? 0 : static_cast<std::uint64_t>(got);
    }
}

void input_file::check() {
    expect(m_bytes != 0, 0, "the file is empty");
    file_head head{};
    std::memcpy(&head, m_words.get(), std::min<std::size_t>(m_bytes, sizeof head));
    expect(m_bytes < sizeof head.magic || head.magic == magic, 0, "not a snapshot of this index");
    expect(m_bytes >= sizeof head, m_bytes, "cut within its head");
    expect(head.version == version, 8,
           "a snapshot of version " + std::to_string(head.version) + "; this library reads version " +
               std::to_string(version));
    expect(head.zero == 0, 12, "not zero");
    std::uint64_t at = sizeof head;
    for (std::uint32_t number = 0; m_last != section_kind::end; number++) {
        expect(m_bytes - at >= sizeof(section_head), at, "cut before a section");
        section_head section{};
        std::memcpy(&section, m_words.get() + at / 8, sizeof section);
        const std::uint64_t begin = at + sizeof section;
        expect(section.bytes % 8 == 0 && section.bytes <= m_bytes - begin, at + 16,
               "a section of " + std::to_string(section.bytes) + " bytes that are not there");
        const std::span<const std::uint64_t> payload(m_words.get() + begin / 8, section.bytes / 8);
        expect(checksum_of(section, payload.data()) == section.checksum, at + 24,
               "the checksum of section " + std::to_string(section.number) + " is wrong");
        expect(section.number == number, at + 4, "a section out of its order");
        expect(section.zero == 0, at + 12, "not zero");
        check_section(section, payload);
        at = begin + section.bytes;
    }
    expect(at == m_bytes, at, "something behind the end");
}

void input_file::check_section(const section_head& head, std::span<const std::uint64_t> payload) {
    const std::uint64_t byte = byte_of(payload.data());
    const std::uint64_t at = byte - sizeof head;
    const auto kind = static_cast<section_kind>(head.kind);
    expect(head.part == 0 || kind == section_kind::runs, at + 8, "a part of what has none");
    switch (kind) {
    case section_kind::watermarks:
        expect(m_last == section_kind{} && payload.size() % 2 == 0 && payload.size() / 2 <= most_watermarks, at,
               "watermarks not at the start, or too many, or half a one");
        for (std::size_t i = 0; i < payload.size(); i += 2) {
            m_watermarks.push_back({payload[i], payload[i + 1]});
        }
        break;
    case section_kind::runs:
        expect((m_last == section_kind::watermarks || m_last == section_kind::runs) && head.part < max_parts,
               at, "runs out of their order, or of no such part");
        expect(head.part + 1 >= m_runs.size(), at + 8, "parts out of order");
        check_runs(head.part, payload);
        break;
    case section_kind::slots:
        expect(m_last == section_kind::watermarks || m_last == section_kind::runs, at,
               "slots out of their order");
        check_slots(payload);
        break;
    case section_kind::end:
        expect(m_last == section_kind::slots, at, "an end too early");
        check_end(payload);
        break;
    default:
        throw damaged(at, "a section of unknown kind " + std::to_string(head.kind));
    }
    m_last = kind;
}

void input_file::check_runs(std::uint32_t part, std::span<const std::uint64_t> payload) {
    if (m_runs.size() <= part) {
        m_runs.resize(part + 1);
    }
    std::vector<const std::uint64_t*>& runs = m_runs[part];
    while (!payload.empty()) {
        const run_record r = run_record::checked(payload, byte_of(payload.data()));
        expect(runs.empty() || run_record(runs.back()).run() < r.run(), byte_of(payload.data()),
               "run " + std::to_string(r.run()) + ": out of its order");
        runs.push_back(payload.data());
        payload = payload.subspan(r.words());
    }
}

void input_file::check_slots(std::span<const std::uint64_t> payload) {
    const std::uint64_t byte = byte_of(payload.data());
    expect(payload.size_bytes() % sizeof(slot_record) == 0, byte, "half a slot");
    m_slots.resize(payload.size_bytes() / sizeof(slot_record));
    expect(m_slots.size() <= max_slots, byte, "too many slots");
    if (!m_slots.empty()) {
        std::memcpy(m_slots.data(), payload.data(), payload.size_bytes());
    }
    for (std::size_t i = 0; i < m_slots.size(); i++) {
        const slot_record& s = m_slots[i];
        const std::uint64_t at = byte + i * sizeof s;
        expect(number_of(slot_id{s.slot}) == i, at, "slot " + std::to_string(i) + " has another number");
        expect(s.open <= 1 && s.domain < 1u << 16, at, "slot " + std::to_string(i) + ": out of range");
        expect(s.open == 1 || (s.domain == 0 && s.name_space == 0 && s.rank == 0 && s.worker == 0), at,
               "slot " + std::to_string(i) + " is closed and is something");
    }
}

void input_file::check_end(std::span<const std::uint64_t> payload) {
    const std::uint64_t byte = byte_of(payload.data());
    expect(payload.size_bytes() == sizeof(end_record), byte, "an end of another size");
    end_record end{};
    std::memcpy(&end, payload.data(), sizeof end);
    std::uint64_t runs = 0;
    for (const auto& part : m_runs) {
        runs += part.size();
    }
    expect(end.bytes == byte - sizeof(section_head), byte, "the file has another length than it should");
    expect(end.runs == runs, byte + 8, "the file has another number of runs than it should");
    expect(end.quiet <= 1, byte + 16, "neither quiet nor not");
    m_quiet = end.quiet != 0;
}

} // namespace kvindex::snapshot
