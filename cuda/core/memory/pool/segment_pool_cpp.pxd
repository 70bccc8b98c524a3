# SPDX-License-Identifier: Apache-2.0
# Declarations of cpp/core/memory/pool, which cuts upstream segments into blocks.

from libcpp cimport bool as cbool
from libcpp.vector cimport vector


cdef extern from "core/memory/pool/segment_pool.hpp" namespace "halfwarp::core" nogil:
    cppclass stream_blocks:
        bint is_per_thread() noexcept
    cppclass pool_block "halfwarp::core::block":
        CUdeviceptr address
        stream_blocks* home
    cppclass pool_segment "halfwarp::core::segment":
        void* owner
        size_t size
        pool_segment* next
    cppclass segment_use:
        pass
    segment_use use_for(size_t) noexcept
    segment_use ALL_BLOCKS "halfwarp::core::segment_use::all_blocks"
    cppclass pool_counter "std::atomic<size_t>":
        size_t load() noexcept
    cppclass pool_total "std::atomic<unsigned long long>":
        unsigned long long load() noexcept
    cppclass pool_totals:
        pool_counter allocated
        pool_counter allocated_peak
        pool_counter reserved
        pool_counter reserved_peak
        pool_total reuse_cross_stream
        pool_total cross_stream_waits
        pool_total upstream_allocs
        pool_total upstream_frees
        pool_total oom_retries
        pool_total allocations
        pool_total allocated_bytes
        pool_total frees
        pool_total reused
    struct block_figures "halfwarp::core::pool_figures":
        unsigned long long allocations
        unsigned long long allocated_bytes
        unsigned long long frees
        unsigned long long reuse_same_stream
        size_t largest_free_block
        size_t free_bytes
    struct live_block:
        CUdeviceptr address
        size_t size
        CUstream stream
        double age
    cppclass shared_totals "std::shared_ptr<halfwarp::core::pool_totals>":
        pass
    shared_totals new_totals "std::make_shared<halfwarp::core::pool_totals>"() except +
    cppclass segment_pool:
        segment_pool(shared_totals) except +
        void release() noexcept
        bint is_of_this_process() noexcept
        pool_totals& totals() noexcept
        void count_at_once() noexcept
        const shared_totals& shared_totals() noexcept
        pool_block* allocate(size_t, const stream_ref&) except +translate_exception
        pool_block* allocate_from_bins(size_t, const stream_ref&, segment_use) \
            except +translate_exception
        pool_block* allocate_across_streams(size_t, const stream_ref&, segment_use) \
            except +translate_exception
        pool_block* add_segment(CUdeviceptr, size_t, void* owner, const stream_ref&, size_t) \
            except +translate_exception
        bint reserve(size_t, size_t limit) noexcept
        void unreserve(size_t) noexcept
        bint free(pool_block&, stream_blocks&) noexcept
        bint free_on_this_thread(pool_block&, const stream_ref&) except +translate_exception
        stream_blocks& home_of(const stream_ref&) except +translate_exception
        void change_home(pool_block&, stream_blocks&) noexcept
        pool_segment* remove_free_segments(size_t min_bytes, const stream_ref&) \
            except +translate_exception
        pool_segment* remove_all_segments() noexcept
        void synchronize() except +translate_exception
        bint is_inert() noexcept
        void close() noexcept
        bint is_closed() noexcept
        block_figures figures() noexcept
        vector[live_block] live_blocks() except +translate_exception
        void disown(pool_block&) noexcept
        pool_block* claim(CUdeviceptr, cbool& is_owned) noexcept
        bint overlaps(CUdeviceptr, size_t) noexcept
