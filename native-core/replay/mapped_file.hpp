/// A file as an array of u64, mapped read-only and read in beforehand.
#pragma once

#include "replay_error.hpp"

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

namespace kvindex::replay {

/// Owns the mapping. Spans and pointers into it live as long as this object does.
class mapped_file {
public:
    /// Throws replay_error when the file cannot be read, is empty or is not a multiple of 8 bytes long.
    explicit mapped_file(const std::string& path);
    ~mapped_file();
    mapped_file(const mapped_file&) = delete;
    mapped_file& operator=(const mapped_file&) = delete;

    const std::string& path() const {
        return m_path;
    }

    std::span<const std::uint64_t> words() const {
        return {m_words, m_count};
    }

private:
    std::string m_path;
    const std::uint64_t* m_words = nullptr;
    std::uint64_t m_count = 0;
};

/// Walks over a file from its start and never past its end.
class file_cursor {
public:
    explicit file_cursor(const mapped_file& file) : m_file(file) {
    }

    /// The next `count` words. Throws replay_error "FILE ends within WHAT" when fewer are left.
    std::span<const std::uint64_t> take(std::uint64_t count, const char* what) {
        if (count > left()) {
            throw replay_error(m_file.path() + ": the file ends within " + what + ", at byte " +
                               std::to_string(m_file.words().size_bytes()));
        }
        const auto out = m_file.words().subspan(m_at, count);
        m_at += count;
        return out;
    }

    /// The next bytes as a T.
    template <typename T>
    T take_as(const char* what) {
        static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 8 == 0);
        T out;
        std::memcpy(&out, take(sizeof(T) / 8, what).data(), sizeof(T));
        return out;
    }

    std::uint64_t left() const {
        return m_file.words().size() - m_at;
    }

private:
    const mapped_file& m_file;
    std::uint64_t m_at = 0;
};

} // namespace kvindex::replay
