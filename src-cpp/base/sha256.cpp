#include "base/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#include <sys/auxv.h>
#endif

namespace kvindex {
namespace {

alignas(64) constexpr std::array<std::uint32_t, 64> k{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using state = std::array<std::uint32_t, 8>;

constexpr std::size_t block_bytes = 64;

constexpr state first_state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

std::uint32_t big_endian(const std::uint8_t* at) {
    std::uint32_t word;
    std::memcpy(&word, at, sizeof word);
    return __builtin_bswap32(word);
}

void compress_portable(state& s, const std::uint8_t* blocks, std::size_t count) {
    for (; count != 0; count--, blocks += block_bytes) {
        std::array<std::uint32_t, 64> w;
        for (std::size_t i = 0; i < 16; i++) {
            w[i] = big_endian(blocks + 4 * i);
        }
        for (std::size_t i = 16; i < 64; i++) {
            const std::uint32_t x = w[i - 15];
            const std::uint32_t y = w[i - 2];
            w[i] = w[i - 16] + w[i - 7] + (std::rotr(x, 7) ^ std::rotr(x, 18) ^ x >> 3) +
                   (std::rotr(y, 17) ^ std::rotr(y, 19) ^ y >> 10);
        }
        auto [a, b, c, d, e, f, g, h] = s;
        for (std::size_t i = 0; i < 64; i++) {
            const std::uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                     ((e & f) ^ (~e & g)) + k[i] + w[i];
            const std::uint32_t t2 =
                (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            h = g;
            g = f;
            f = e;
            e = d + t1;
            d = c;
            c = b;
            b = a;
            a = t1 + t2;
        }
        const state after{a, b, c, d, e, f, g, h};
        for (std::size_t i = 0; i < s.size(); i++) {
            s[i] += after[i];
        }
    }
}

#if defined(__x86_64__)

// Two rounds an instruction, on the state as (ABEF, CDGH); four message words at a time.
__attribute__((target("sha,sse4.1"))) void compress_sha_ni(state& s, const std::uint8_t* blocks,
                                                           std::size_t count) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    const auto constants = [](int group) __attribute__((target("sha,sse4.1"), always_inline)) {
        return _mm_load_si128(reinterpret_cast<const __m128i*>(k.data()) + group);
    };
    const __m128i dcba = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(s.data())), 0xb1);
    const __m128i hgfe =
        _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(s.data() + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(dcba, hgfe, 8);
    __m128i cdgh = _mm_blend_epi16(hgfe, dcba, 0xf0);

    for (; count != 0; count--, blocks += block_bytes) {
        const __m128i abef_before = abef;
        const __m128i cdgh_before = cdgh;
        __m128i w[4];
        for (int i = 0; i < 4; i++) {
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks) + i), swap);
        }
#pragma GCC unroll 16
        for (int group = 0; group < 16; group++) {
            if (group >= 4) {
                const __m128i x = w[(group + 1) % 4];
                const __m128i z = w[(group + 3) % 4];
                w[group % 4] = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w[group % 4], x),
                                                                  _mm_alignr_epi8(z, w[(group + 2) % 4], 4)),
                                                    z);
            }
            const __m128i wk = _mm_add_epi32(w[group % 4], constants(group));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(wk, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }

    const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
    const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(s.data()), _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(s.data() + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#endif

#if defined(__aarch64__)

#if defined(__clang__)
#define KVI_SHA_TARGET __attribute__((target("sha2")))
#else
#define KVI_SHA_TARGET __attribute__((target("+crypto")))
#endif

KVI_SHA_TARGET void compress_armv8(state& s, const std::uint8_t* blocks, std::size_t count) {
    uint32x4_t abcd = vld1q_u32(s.data());
    uint32x4_t efgh = vld1q_u32(s.data() + 4);
    for (; count != 0; count--, blocks += block_bytes) {
        const uint32x4_t abcd_before = abcd;
        const uint32x4_t efgh_before = efgh;
        uint32x4_t w[4];
        for (int i = 0; i < 4; i++) {
            w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(blocks + 16 * i)));
        }
        for (int group = 0; group < 16; group++) {
            if (group >= 4) {
                w[group % 4] = vsha256su1q_u32(vsha256su0q_u32(w[group % 4], w[(group + 1) % 4]),
                                               w[(group + 2) % 4], w[(group + 3) % 4]);
            }
            const uint32x4_t wk = vaddq_u32(w[group % 4], vld1q_u32(k.data() + 4 * group));
            const uint32x4_t before = abcd;
            abcd = vsha256hq_u32(abcd, efgh, wk);
            efgh = vsha256h2q_u32(efgh, before, wk);
        }
        abcd = vaddq_u32(abcd, abcd_before);
        efgh = vaddq_u32(efgh, efgh_before);
    }
    vst1q_u32(s.data(), abcd);
    vst1q_u32(s.data() + 4, efgh);
}

#endif

} // namespace

bool sha_available(sha_isa wanted) {
    switch (wanted) {
    case sha_isa::portable:
        return true;
    case sha_isa::sha_ni: {
#if defined(__x86_64__)
        unsigned a = 0;
        unsigned b = 0;
        unsigned c = 0;
        unsigned d = 0;
        return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 29 & 1) != 0;
#else
        return false;
#endif
    }
    case sha_isa::armv8:
#if defined(__aarch64__)
        return (getauxval(AT_HWCAP) >> 6 & 1) != 0; // HWCAP_SHA2
#else
        return false;
#endif
    }
    return false;
}

sha_isa sha_best() {
    static const sha_isa best = sha_available(sha_isa::sha_ni)  ? sha_isa::sha_ni
                                : sha_available(sha_isa::armv8) ? sha_isa::armv8
                                                                : sha_isa::portable;
    return best;
}

sha256::compress_fn sha256::compressor([[maybe_unused]] sha_isa isa) {
#if defined(__x86_64__)
    if (isa == sha_isa::sha_ni) {
        return compress_sha_ni;
    }
#elif defined(__aarch64__)
    if (isa == sha_isa::armv8) {
        return compress_armv8;
    }
#endif
    return compress_portable;
}

sha256::sha256(sha_isa isa) : m_compress(compressor(isa)) {
    start();
}

void sha256::start() {
    m_state = first_state;
    m_length = 0;
}

void sha256::update(std::span<const std::uint8_t> bytes) {
    const std::size_t pending = m_length % block_bytes;
    m_length += bytes.size();
    if (pending != 0) {
        const std::size_t taken = std::min(bytes.size(), block_bytes - pending);
        std::copy_n(bytes.begin(), taken, m_pending.begin() + static_cast<std::ptrdiff_t>(pending));
        bytes = bytes.subspan(taken);
        if (pending + taken < block_bytes) {
            return;
        }
        m_compress(m_state, m_pending.data(), 1);
    }
    const std::size_t blocks = bytes.size() / block_bytes;
    if (blocks != 0) {
        m_compress(m_state, bytes.data(), blocks);
        bytes = bytes.subspan(blocks * block_bytes);
    }
    std::copy(bytes.begin(), bytes.end(), m_pending.begin());
}

void sha256::finish(sha256_digest& out) {
    const std::uint64_t bits = m_length * 8;
    std::size_t at = m_length % block_bytes;
    m_pending[at++] = 0x80;
    if (at > block_bytes - sizeof bits) {
        std::fill(m_pending.begin() + static_cast<std::ptrdiff_t>(at), m_pending.end(), std::uint8_t{0});
        m_compress(m_state, m_pending.data(), 1);
        at = 0;
    }
    std::fill(m_pending.begin() + static_cast<std::ptrdiff_t>(at), m_pending.end(), std::uint8_t{0});
    const std::uint64_t big = __builtin_bswap64(bits);
    std::memcpy(m_pending.data() + block_bytes - sizeof big, &big, sizeof big);
    m_compress(m_state, m_pending.data(), 1);
    for (std::size_t i = 0; i < m_state.size(); i++) {
        const std::uint32_t word = __builtin_bswap32(m_state[i]);
        std::memcpy(out.data() + i * sizeof word, &word, sizeof word);
    }
    start();
}

} // namespace kvindex
