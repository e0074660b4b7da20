#include "index/walk.hpp"

#include "base/common_prefix.hpp"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#if defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace kvindex::index {

using storage::holder;
using storage::holder_table;
using storage::run_head;

namespace {

constexpr std::uint32_t all_words = storage::slot_words;

using slot_set = std::array<std::uint64_t, all_words>;
using visible_slots = std::array<std::atomic<std::uint64_t>, all_words>;

/// Look-ups in flight at once: more than a core has line buffers for bring nothing (bench/RESULTS.md).
constexpr std::size_t in_flight = 12;

// What a look-up's budget is counted in, see look_up.
constexpr std::uint32_t steps_per_run = 8; // two dependent misses
constexpr std::uint32_t words_per_step = 8;

// What an instruction set brings: write_depths() gives `value` to the slots of a word, common_start() compares
// local hashes. All give equal answers (tests/walk_isa_test.cpp).

namespace scalar {

inline void write_depths(std::uint32_t* depth, std::uint64_t bits, std::uint32_t value) {
    for (; bits != 0; bits &= bits - 1) {
        depth[std::countr_zero(bits)] = value;
    }
}

inline std::size_t common_start(const std::uint64_t* a, const std::uint64_t* b, std::size_t n) {
    return common_prefix(a, b, n);
}

#include "index/walk_body.inc"

} // namespace scalar

#if defined(__x86_64__) && defined(__GNUC__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,lzcnt,popcnt")
#endif
namespace avx2 {

inline void write_depths(std::uint32_t* depth, std::uint64_t bits, std::uint32_t value) {
    const __m256i wanted = _mm256_set1_epi32(static_cast<int>(value));
    const __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    for (; bits != 0; bits >>= 8, depth += 8) {
        if ((bits & 0xff) == 0) {
            continue;
        }
        const __m256i some = _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(bits & 0xff)), lane);
        const __m256i mask = _mm256_cmpeq_epi32(some, lane);
        auto* const at = reinterpret_cast<__m256i*>(depth);
        _mm256_storeu_si256(at, _mm256_blendv_epi8(_mm256_loadu_si256(at), wanted, mask));
    }
}

inline std::size_t common_start(const std::uint64_t* a, const std::uint64_t* b, std::size_t n) {
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const __m256i same = _mm256_cmpeq_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + i)),
                                                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + i)));
        const int mask = _mm256_movemask_pd(_mm256_castsi256_pd(same));
        if (mask != 0xf) {
            return i + static_cast<std::size_t>(std::countr_one(static_cast<unsigned>(mask)));
        }
    }
    return i + common_prefix(a + i, b + i, n - i);
}

#include "index/walk_body.inc"

} // namespace avx2
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#if defined(__clang__)
#pragma clang attribute push(                                                                                  \
    __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512vl,avx512bw,avx512dq"))),                  \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512vl,avx512bw,avx512dq,prefer-vector-width=512")
#endif
namespace avx512 {

inline void write_depths(std::uint32_t* depth, std::uint64_t bits, std::uint32_t value) {
    const __m512i wanted = _mm512_set1_epi32(static_cast<int>(value));
    for (std::uint32_t i = 0; i < 4; i++) {
        _mm512_mask_storeu_epi32(depth + i * 16, static_cast<__mmask16>(bits >> (16 * i)), wanted);
    }
}

inline std::size_t common_start(const std::uint64_t* a, const std::uint64_t* b, std::size_t n) {
    std::size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __mmask8 m0 = _mm512_cmpneq_epu64_mask(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i));
        const __mmask8 m1 =
            _mm512_cmpneq_epu64_mask(_mm512_loadu_si512(a + i + 8), _mm512_loadu_si512(b + i + 8));
        const __mmask8 m2 =
            _mm512_cmpneq_epu64_mask(_mm512_loadu_si512(a + i + 16), _mm512_loadu_si512(b + i + 16));
        const __mmask8 m3 =
            _mm512_cmpneq_epu64_mask(_mm512_loadu_si512(a + i + 24), _mm512_loadu_si512(b + i + 24));
        const std::uint32_t all =
            std::uint32_t{m0} | std::uint32_t{m1} << 8 | std::uint32_t{m2} << 16 | std::uint32_t{m3} << 24;
        if (all != 0) {
            return i + static_cast<std::size_t>(std::countr_zero(all));
        }
    }
    for (; i < n; i += 8) {
        const auto live = static_cast<__mmask8>(n - i >= 8 ? 0xff : (1u << (n - i)) - 1u);
        const __mmask8 differ = _mm512_mask_cmpneq_epu64_mask(live, _mm512_maskz_loadu_epi64(live, a + i),
                                                              _mm512_maskz_loadu_epi64(live, b + i));
        if (differ != 0) {
            return i + static_cast<std::size_t>(std::countr_zero(static_cast<std::uint32_t>(differ)));
        }
    }
    return n;
}

#include "index/walk_body.inc"

} // namespace avx512
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif

#if defined(__aarch64__)
namespace neon {

inline void write_depths(std::uint32_t* depth, std::uint64_t bits, std::uint32_t value) {
    const uint32x4_t lane = {1, 2, 4, 8};
    const uint32x4_t wanted = vdupq_n_u32(value);
    for (; bits != 0; bits >>= 4, depth += 4) {
        const uint32x4_t mask = vtstq_u32(vdupq_n_u32(static_cast<std::uint32_t>(bits & 0xf)), lane);
        vst1q_u32(depth, vbslq_u32(mask, wanted, vld1q_u32(depth)));
    }
}

inline std::size_t common_start(const std::uint64_t* a, const std::uint64_t* b, std::size_t n) {
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const uint64x2_t low = vceqq_u64(vld1q_u64(a + i), vld1q_u64(b + i));
        const uint64x2_t high = vceqq_u64(vld1q_u64(a + i + 2), vld1q_u64(b + i + 2));
        const uint64x2_t both = vandq_u64(low, high);
        if ((vgetq_lane_u64(both, 0) & vgetq_lane_u64(both, 1)) != ~std::uint64_t{0}) {
            break;
        }
    }
    return i + common_prefix(a + i, b + i, n - i);
}

#include "index/walk_body.inc"

} // namespace neon
#endif

} // namespace

bool reader_view::use(isa wanted) {
    switch (wanted) {
    case isa::scalar:
        m_walk = scalar::walk;
        m_walk_all = scalar::walk_all;
        return true;
#if defined(__x86_64__) && defined(__GNUC__)
    case isa::avx2:
        if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2")) {
            return false;
        }
        m_walk = avx2::walk;
        m_walk_all = avx2::walk_all;
        return true;
    case isa::avx512:
        if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl") ||
            !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq")) {
            return false;
        }
        m_walk = avx512::walk;
        m_walk_all = avx512::walk_all;
        return true;
#endif
#if defined(__aarch64__)
    case isa::neon:
        m_walk = neon::walk;
        m_walk_all = neon::walk_all;
        return true;
#endif
    default:
        return false;
    }
}

reader_view::reader_view(memory& m, holders& h) : m_memory(m), m_holders(h) {
    static_cast<void>(use(isa::scalar));
#if !defined(__SANITIZE_THREAD__)
    // Vector loads are no atomic operations to the thread sanitizer; the scalar walk is the same code.
    for (const isa better : {isa::neon, isa::avx2, isa::avx512}) {
        static_cast<void>(use(better));
    }
#endif
}

void reader_view::show(std::uint32_t slot) {
    std::atomic<std::uint64_t>& word = m_visible[slot / 64];
    word.store(word.load(std::memory_order_relaxed) | std::uint64_t{1} << (slot % 64),
               std::memory_order_release);
    m_shown.store(std::max(m_shown.load(std::memory_order_relaxed), slot + 1), std::memory_order_release);
}

void reader_view::hide(std::uint32_t slot) {
    std::atomic<std::uint64_t>& word = m_visible[slot / 64];
    word.store(word.load(std::memory_order_relaxed) & ~(std::uint64_t{1} << (slot % 64)),
               std::memory_order_release);
}

} // namespace kvindex::index
