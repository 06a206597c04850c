/* The shared queue of the kernel in a process: reads traces of events, 32 bytes each, and answers each with whether a
 * packet entered and the probability of blocking each of the first three classes, in units of 2^-32.
 * crates/engine/src/queue/buffer_sharing/linux.rs writes the traces.
 *
 * setting: law and limit, c B, tolerance, time between steps        targets: how many classes, the parts of three
 * integrals: of the probabilities of three                          arrival: class and random number, backlog, time */
#include <stdio.h>
#include <string.h>

#include LAW

enum { SETTING = 0, TARGETS = 1, INTEGRALS = 2, ARRIVAL = 3 };
#define TOLD 3

static struct shared shared;

static u64 happen(const u64 *event)
{
	u32 kind = event[0] & 0xff, low = event[0] >> 8 & 0xff;
	u32 high = event[0] >> 32, k;

	switch (kind) {
	case SETTING:
		memset(&shared, 0, sizeof(shared));
		shared.setting.law = low;
		shared.setting.limit = high;
		shared.setting.occupancy = event[1];
		shared.setting.tolerance = event[2];
		shared.setting.update_ns = event[3];
		break;
	case TARGETS:
		shared.setting.classes = low;
		for (k = 0; k < TOLD; k++)
			shared.class[k].target = event[1 + k];
		break;
	case INTEGRALS:
		for (k = 0; k < TOLD; k++)
			shared.class[k].integral = event[1 + k];
		break;
	case ARRIVAL:
		return admit(&shared, low, event[1], 1500, event[2], high);
	}
	return 0;
}

int main(void)
{
	static u64 events[4096][4], answers[4096][1 + TOLD];
	size_t count, k, class;

	while ((count = fread(events, sizeof(events[0]), 4096, stdin)) > 0) {
		for (k = 0; k < count; k++) {
			answers[k][0] = happen(events[k]);
			for (class = 0; class < TOLD; class++)
				answers[k][1 + class] = shared.class[class].blocking;
		}
		fwrite(answers, sizeof(answers[0]), count, stdout);
	}
	return 0;
}
