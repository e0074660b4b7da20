/// SHA-256 (FIPS 180-4), one stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kvindex {

using sha256_digest = std::array<std::uint8_t, 32>;

/// Which instructions compress. All give the same digests.
enum class sha_isa : std::uint8_t { portable, sha_ni, armv8 };

/// Whether this machine has them.
bool sha_available(sha_isa wanted);

/// The fastest that this machine has; looked up once.
sha_isa sha_best();

/// One message at a time: update() as often as wanted, then finish(), which also starts the next message.
/// One thread. Full blocks are compressed where they lie, without a copy.
class sha256 {
public:
    /// `isa`: one that is available.
    explicit sha256(sha_isa isa = sha_best());

    void update(std::span<const std::uint8_t> bytes);
    void finish(sha256_digest& out);

private:
    static constexpr std::size_t block_bytes = 64;
    using compress_fn = void (*)(std::array<std::uint32_t, 8>& state, const std::uint8_t* blocks,
                                 std::size_t count);

    static compress_fn compressor(sha_isa isa);
    void start();

    std::array<std::uint32_t, 8> m_state{};
    compress_fn m_compress;
    std::uint64_t m_length = 0; // bytes of the message so far
    std::array<std::uint8_t, block_bytes> m_pending{};
};

} // namespace kvindex
