/* This library is preloaded into a user-mode Linux. It replaces host functions that the kernel calls.
 *
 * LASTHOP_UML_SEED    seed of all random numbers that the host provides
 * LASTHOP_UML_CLOCK   "simulated": time passes only while the kernel sleeps; "host" or absent: the host's clock.
 *                     A kernel with CONFIG_UML_TIME_TRAVEL_SUPPORT has its own simulated clock and uses "host".
 *
 * The kernel is a single thread. Therefore this library needs no locks.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define EPOCH_S 1704067200ll	/* start of the simulated clock, 2024-01-01 */
#define READING_NS 100		/* advance of the clock per reading; without it, a loop that polls the clock never ends */
#define FIRST_NS 1000000000ll	/* time of the monotonic clock at the boot */
#define XSTATE ((void *)0x202)	/* NT_X86_XSTATE of linux/elf.h */
#define OLD_SETOPTIONS 21	/* PTRACE_OLDSETOPTIONS of asm/ptrace-abi.h */
#define FOLDER "/proc/self/cwd/folder"	/* link to the command's folder, in the directory in which the kernel starts */
#define NONE -1

static int is_simulated;
static uint64_t random_state = 1;

static void *original(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function)
		abort();
	return function;
}

/* Turns off address randomisation, so that addresses are equal in each run. Also makes the kernel end together with the
 * process that started it. */
static void __attribute__((constructor)) start(int argc, char **argv, char **environment)
{
	const char *seed = getenv("LASTHOP_UML_SEED"), *clock = getenv("LASTHOP_UML_CLOCK");
	int current = personality(0xffffffff);

	(void)argc;
	if (current != -1 && !(current & ADDR_NO_RANDOMIZE) && personality(current | ADDR_NO_RANDOMIZE) != -1)
		execve("/proc/self/exe", argv, environment);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (seed)
		random_state = strtoull(seed, NULL, 10);
	is_simulated = clock && strcmp(clock, "simulated") == 0;
}

/* ------------------------------------------------------------------------------------------------ simulated clock */

static long long now_ns = FIRST_NS, due_ns = NONE, interval_ns;

static long long in_ns(struct timespec time) { return time.tv_sec * 1000000000ll + time.tv_nsec; }

static struct timespec as_timespec(long long ns) { return (struct timespec){ns / 1000000000, ns % 1000000000}; }

/* Expires the kernel's single timer. */
static void expire(void)
{
	due_ns = interval_ns ? due_ns + interval_ns : NONE;
	raise(SIGALRM);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	static int (*host)(clockid_t, struct timespec *);

	if (!is_simulated) {
		if (!host)
			host = original("clock_gettime");
		return host(clock, time);
	}
	now_ns += READING_NS;
	*time = as_timespec(now_ns);
	if (clock == CLOCK_REALTIME)
		time->tv_sec += EPOCH_S - FIRST_NS / 1000000000;
	if (due_ns != NONE && now_ns >= due_ns)
		expire();
	return 0;
}

int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
	static int (*host)(clockid_t, struct sigevent *, timer_t *);

	if (!is_simulated) {
		if (!host)
			host = original("timer_create");
		return host(clock, event, timer);
	}
	*timer = (timer_t)1;
	return 0;
}

int timer_settime(timer_t timer, int flags, const struct itimerspec *value, struct itimerspec *before)
{
	static int (*host)(timer_t, int, const struct itimerspec *, struct itimerspec *);
	long long first_ns = in_ns(value->it_value);

	if (!is_simulated) {
		if (!host)
			host = original("timer_settime");
		return host(timer, flags, value, before);
	}
	interval_ns = in_ns(value->it_interval);
	due_ns = first_ns ? now_ns + first_ns : NONE;
	return 0;
}

int timer_gettime(timer_t timer, struct itimerspec *value)
{
	static int (*host)(timer_t, struct itimerspec *);
	long long left_ns = due_ns == NONE ? 0 : due_ns > now_ns ? due_ns - now_ns : 1;

	if (!is_simulated) {
		if (!host)
			host = original("timer_gettime");
		return host(timer, value);
	}
	*value = (struct itimerspec){as_timespec(interval_ns), as_timespec(left_ns)};
	return 0;
}

/* Advances the clock to the time of the timer, because the kernel sleeps. */
int sigsuspend(const sigset_t *mask)
{
	static int (*host)(const sigset_t *);

	if (!host)
		host = original("sigsuspend");
	if (is_simulated && due_ns != NONE) {
		if (now_ns < due_ns)
			now_ns = due_ns;
		expire();
	}
	return host(mask);
}

/* ----------------------------------------------------------------------------------------------------- randomness */

/* Returns the next random number of splitmix64 (Steele, Lea and Flood, 2014). */
static uint64_t next_random(void)
{
	uint64_t z = (random_state += 0x9e3779b97f4a7c15ull);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	uint64_t word;

	(void)flags;
	for (size_t i = 0; i < length; i += sizeof(word)) {
		word = next_random();
		memcpy((char *)buffer + i, &word, length - i < sizeof(word) ? length - i : sizeof(word));
	}
	return length;
}

/* -------------------------------------------------------------------------------------------------- times of files */

/* Returns whether a file has the same times in each run: files in the command's folder, except Python's sources.
 * Python's sources keep their times, since a compiled module contains the time of its source. */
static int has_fixed_times(const char *path)
{
	size_t length = strlen(path);

	while (path[0] == '/' && path[1] == '/')
		path++, length--;
	return strncmp(path, FOLDER, strlen(FOLDER)) == 0 && (length < 3 || strcmp(path + length - 3, ".py") != 0);
}

/* Replaces lstat64, which Linux up to 6.10 calls. */
int lstat64(const char *path, struct stat64 *file)
{
	static int (*host)(const char *, struct stat64 *);
	int done;

	if (!host)
		host = original("lstat64");
	done = host(path, file);
	if (done == 0 && has_fixed_times(path))
		file->st_atim = file->st_mtim = file->st_ctim = (struct timespec){EPOCH_S, 0};
	return done;
}

/* Replaces statx, which Linux from 6.11 on calls. */
int statx(int folder, const char *path, int flags, unsigned int mask, struct statx *file)
{
	static int (*host)(int, const char *, int, unsigned int, struct statx *);
	struct statx_timestamp fixed = {.tv_sec = EPOCH_S};
	int done;

	if (!host)
		host = original("statx");
	done = host(folder, path, flags, mask, file);
	if (done == 0 && has_fixed_times(path))
		file->stx_atime = file->stx_mtime = file->stx_ctime = file->stx_btime = fixed;
	return done;
}

/* --------------------------------------------------------------------------------------------------------- ptrace */

/* Sets the whole vector state of a process. The kernel passes a buffer of the size that was sufficient for processors
 * when the kernel was built. A host whose processor has more vector state refuses this buffer. Registers that the kernel
 * does not support keep their values. PTRACE_O_EXITKILL ends the processes together with the kernel. */
long ptrace(enum __ptrace_request request, ...)
{
	static long (*host)(enum __ptrace_request, ...);
	static char state[1 << 16];
	struct iovec *given, all = {state, sizeof(state)};
	va_list rest;
	int pid;
	void *address, *data;
	long done;

	va_start(rest, request);
	pid = va_arg(rest, int), address = va_arg(rest, void *), data = va_arg(rest, void *);
	va_end(rest);
	if (!host)
		host = original("ptrace");
	if (request == PTRACE_SETOPTIONS || (int)request == OLD_SETOPTIONS)
		data = (void *)((uintptr_t)data | PTRACE_O_EXITKILL), request = PTRACE_SETOPTIONS;
	done = host(request, pid, address, data);
	if (done == 0 || request != PTRACE_SETREGSET || address != XSTATE || errno != EFAULT)
		return done;
	given = data;
	if (host(PTRACE_GETREGSET, pid, XSTATE, &all) != 0 || given->iov_len > all.iov_len)
		return -1;
	memcpy(state, given->iov_base, given->iov_len);
	return host(request, pid, XSTATE, &all);
}
