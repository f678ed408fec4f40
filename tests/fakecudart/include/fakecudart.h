/* SPDX-License-Identifier: Apache-2.0 */
/* Control of the test double of the CUDA runtime: what a test uses to shape the machine it runs on, and to
 * see what the code under test did to it. Exported by the double's libcudart.so.13 next to the cuda* symbols.
 *
 * Unless a line says otherwise: any thread; out of range device numbers are ignored and answer 0. */
#pragma once
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

/* ---- shape of the machine: before first use, or between tests while nothing runs ------------------------
 */

/* A fresh machine; counters, injections, faults and switches cleared. Opens all gates, waits for queued work
 * and ends every stream's thread; no other thread may be inside the runtime. Every handle of before is dead.
 * At start: FAKECUDA_DEVICES (1), FAKECUDA_BYTES (1 GiB), FAKECUDA_DRIVER_VERSION, FAKECUDA_TRACE (a file).
 */
void fakecuda_reset(int devices, size_t bytes_per_device);
void fakecuda_set_peer(int from, int to, int reachable); /* default: all reachable */
/* canAccess says 1, but copies on the direct way from `from` to `to` arrive wrong. */
void fakecuda_corrupt_peer(int from, int to, int on);
void fakecuda_set_numa(int device, int node);             /* cudaDevAttrHostNumaId; default 0 */
void fakecuda_set_pci(int device, const char* bus_id);    /* "0000:3b:00.0", given back as set */
void fakecuda_set_uuid(int device, const void* bytes_16); /* default: "heddle-fake" and the device's number */
void fakecuda_set_name(int device, const char* name);     /* default: "Fake GPU 0" */

/* ---- the driver below the runtime ------------------------------------------------------------------------
 */

/* 0: no driver. Older than the runtime: insufficient. Both: every call gives cudaErrorInsufficientDriver (35)
 * and leaves its outputs alone, except cudaDriverGetVersion, which succeeds. FAKECUDA_DRIVER_VERSION does the
 * same. */
void fakecuda_driver_version(int version);
void fakecuda_stub_library(int on); /* the toolkit's stub: cudaErrorStubLibrary (34) everywhere */
void fakecuda_unloading(int on);    /* every call gives cudaErrorCudartUnloading (4) */
void fakecuda_fail_device(int device,
                          int error);         /* no context on this device: it fails with `error`; 0 heals */
void fakecuda_slow_init_us(int microseconds); /* how long the making of a context takes */

/* ---- time and order ---------------------------------------------------------------------------------------
 */

void fakecuda_gate(int device, int closed); /* closed: queued work does not start */
void fakecuda_set_latency_us(int device, int launch_host, int kernel, int copy);
/* Legal behaviour that programs tend not to expect: the host functions of a device run one at a time, and the
 * first launch of a kernel on a device waits until the device is idle (lazy loading). */
void fakecuda_harsh(int on);
void fakecuda_drain(void); /* opens all gates, waits for all queues */
/* Whether cudaErrorNotReady of cudaEventQuery and cudaStreamQuery lands in the last-error slot. Default on.
 */
void fakecuda_not_ready_sticks(int on);

/* ---- faults -----------------------------------------------------------------------------------------------
 */

/* Calls of `api` (NULL: any but the releasing ones) made while `device` is current (-1: any) fail with
 * `error`: the first `skip` matches pass, the next `count` fail. Driver entry points are named without _v2.
 */
void fakecuda_inject(const char* api, int device, long skip, long count, int error);
void fakecuda_clear_injections(void);
/* The nth (0 = next) operation that the device executes fails and leaves `error` sticky. */
void fakecuda_async_fault(int device, long nth, int error);
void fakecuda_set_sticky(int device, int error);      /* 0 heals; a real device never does */
void fakecuda_limit_memory(int device, size_t bytes); /* allocations past this: cudaErrorMemoryAllocation */

/* ---- observation ------------------------------------------------------------------------------------------
 */

typedef struct {
  long streams, events, device_allocs, host_allocs, graphs, ops_queued, contexts;
  size_t device_bytes;   /* in use: cudaMalloc, and pool memory that was not given to cudaFreeAsync */
  long pools;            /* made by cudaMemPoolCreate */
  size_t reserved_bytes; /* what counts against the capacity: in use, and freed but kept by a pool */
} fakecuda_live_t;
fakecuda_live_t fakecuda_live(int device); /* -1: the whole machine */

long fakecuda_calls(const char* api); /* NULL: all since the last reset */
long fakecuda_kernels_run(int device);
long fakecuda_contexts_made(int device); /* how often a primary context came to life there */
long fakecuda_primary_refs(int device);  /* cuDevicePrimaryCtxRetain less Release; the runtime's hold apart */
long fakecuda_default_pool_touched(int device); /* attributes or access of the default pool set or read */
int fakecuda_context_depth(void);               /* contexts on the calling thread's stack */
int fakecuda_misuse(char* text,
                    size_t size); /* number of violations of the API's contract; the last one's text */
int fakecuda_is_fake(void);       /* 1; a test that must not run on NVIDIA's runtime asks for it */

/* A log of calls, empty when switched on; 100,000 entries at most. Read it while nothing calls. */
typedef struct {
  const char* api;
  unsigned long thread; /* gettid() */
  int device;           /* current when called; -1: none */
} fakecuda_log_entry_t;
void fakecuda_log(int on);
long fakecuda_log_count(void);
int fakecuda_log_entry(long index, fakecuda_log_entry_t* entry);      /* 0: no such entry */
long fakecuda_calls_on_thread(const char* api, unsigned long thread); /* out of the log; NULL: all */

/* ---- kernels ----------------------------------------------------------------------------------------------
 */

/* The host twin of a __global__ function. `pack` copies the launch's arguments, `run` executes the whole grid
 * on the stream's thread, `drop` frees what pack made. fakecudart_twin.hpp writes the three. */
typedef struct {
  unsigned x, y, z;
} fakecuda_dim3;
typedef struct {
  fakecuda_dim3 grid, block;
  size_t shmem;
  int device;
} fakecuda_launch;
typedef struct {
  void* (*pack)(void** arguments);
  void (*run)(void* packed, const fakecuda_launch* where);
  void (*drop)(void* packed);
} fakecuda_twin;
void fakecuda_register_twin(const void* host_stub, const char* label, fakecuda_twin twin);
void fakecuda_ignore_missing_twins(int on); /* on: kernels without a twin do nothing */

#ifdef __cplusplus
}
#endif
