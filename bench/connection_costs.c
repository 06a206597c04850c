/* Prints the cost of TCP connections over loopback, as a line of JSON per round.
 *
 * The costs are the CPU time and the elapsed time of socket(), connect(), sending a packet of 1000
 * bytes and close(), averaged over 100 connections. A further cost is the private memory of 100
 * connections in a process that opens them in one thread, or in one thread per connection. No
 * program calls accept(): all connections stay in the listener's backlog, so that the kernel's work
 * for both ends is part of the caller's time.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MANY = 100, PACKET = 1000 };

static struct sockaddr_in target;
static pthread_barrier_t opened, done;

static void check(int answer, const char *what) {
    if (answer < 0) {
        perror(what);
        exit(1);
    }
}

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

/* Returns a listening socket with a backlog of MANY connections. */
static int listening(void) {
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t length = sizeof target;
    target = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    check(bind(listener, (struct sockaddr *)&target, length), "bind");
    check(listen(listener, 2 * MANY), "listen");
    check(getsockname(listener, (struct sockaddr *)&target, &length), "getsockname");
    return listener;
}

static int new_socket(void) {
    int one = socket(AF_INET, SOCK_STREAM, 0);
    check(one, "socket");
    return one;
}

static void opening(int one) {
    check(connect(one, (struct sockaddr *)&target, sizeof target), "connect");
}

static void sending(int one) {
    char packet[PACKET];
    memset(packet, 1, sizeof packet);
    check(send(one, packet, sizeof packet, MSG_NOSIGNAL), "send");
}

#define TIMED(name, work)                                                                          \
    do {                                                                                           \
        double cpu = seconds(CLOCK_THREAD_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);            \
        for (int k = 0; k < MANY; k++) {                                                           \
            work;                                                                                  \
        }                                                                                          \
        cpu = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;                                              \
        wall = seconds(CLOCK_MONOTONIC) - wall;                                                    \
        printf("\"%s_s\": %.4e, \"%s_elapsed_s\": %.4e, ", name, cpu / MANY, name, wall / MANY);   \
    } while (0)

static void times(void) {
    int sockets[MANY], listener = listening(), on = 1;
    TIMED("socket", sockets[k] = new_socket());
    for (int k = 0; k < MANY; k++)
        setsockopt(sockets[k], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    TIMED("handshake", opening(sockets[k]));
    TIMED("packet", sending(sockets[k]));
    TIMED("close", close(sockets[k]));
    close(listener);
}

/* Returns the memory of the kernel stacks of all threads. [kB] */
static long stacks_kb(void) {
    FILE *file = fopen("/proc/meminfo", "r");
    char line[256];
    long kb = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "KernelStack: %ld", &kb) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return kb;
}

static long private_kb(void) {
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long sum = 0, kb;
    if (file == NULL) {
        perror("smaps_rollup");
        exit(1);
    }
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "Private_Clean: %ld", &kb) == 1 || sscanf(line, "Private_Dirty: %ld", &kb) == 1)
            sum += kb;
    fclose(file);
    return sum;
}

static void *in_a_thread(void *unused) {
    int one = new_socket();
    opening(one);
    sending(one);
    pthread_barrier_wait(&opened);
    pthread_barrier_wait(&done);
    close(one);
    return unused;
}

/* Prints the memory that MANY connections add to this process. */
static void memory(int threads) {
    pthread_t thread[MANY];
    int sockets[MANY], listener = listening();
    private_kb();
    long before = private_kb(), stacks = stacks_kb();
    if (threads) {
        pthread_barrier_init(&opened, NULL, MANY + 1);
        pthread_barrier_init(&done, NULL, MANY + 1);
        for (int k = 0; k < MANY; k++)
            check(-pthread_create(&thread[k], NULL, in_a_thread, NULL), "pthread_create");
        pthread_barrier_wait(&opened);
    } else {
        for (int k = 0; k < MANY; k++) {
            sockets[k] = new_socket();
            opening(sockets[k]);
            sending(sockets[k]);
        }
    }
    const char *held = threads ? "threads" : "one_thread";
    printf("\"memory_%s_mb\": %.6f, \"stacks_%s_mb\": %.6f%s", held,
           1024e-6 * (private_kb() - before), held, 1024e-6 * (stacks_kb() - stacks),
           threads ? "}\n" : ", ");
    fflush(stdout);
    if (threads)
        pthread_barrier_wait(&done);
    close(listener);
    _exit(0);
}

int main(int count, char **words) {
    int rounds = count > 1 ? atoi(words[1]) : 1;
    for (int round = 0; round < rounds; round++) {
        printf("{");
        times();
        for (int threads = 0; threads < 2; threads++) {
            int status;
            fflush(stdout);
            if (fork() == 0)
                memory(threads);
            wait(&status);
            if (status != 0)
                return 1;
        }
    }
    return 0;
}
