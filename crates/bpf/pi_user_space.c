/* PI of the kernel in a process: reads traces of events, 32 bytes each, and answers each with the probability after it, in
 * units of 2^-48. crates/engine/src/queue/pi/linux.rs writes the traces.
 *
 * setting: a, b, target and limit        update: time between steps        arrival: packets in the queue, time */
#include <stdio.h>
#include <string.h>

#include LAW

enum { SETTING = 0, UPDATE = 1, ARRIVAL = 2 };

static struct pi pi;

static void happen(const u64 *event)
{
	switch (event[0]) {
	case SETTING:
		memset(&pi, 0, sizeof(pi));
		pi.setting.a = event[1];
		pi.setting.b = event[2];
		pi.setting.target = event[3];
		pi.setting.limit = event[3] >> 32;
		break;
	case UPDATE:
		pi.setting.update_ns = event[1];
		break;
	case ARRIVAL:
		pi_judge(&pi, event[1], event[2], 0);
		break;
	}
}

int main(void)
{
	static u64 events[4096][4], answers[4096];
	size_t count, k;

	while ((count = fread(events, sizeof(events[0]), 4096, stdin)) > 0) {
		for (k = 0; k < count; k++) {
			happen(events[k]);
			answers[k] = pi.probability;
		}
		fwrite(answers, sizeof(answers[0]), count, stdout);
	}
	return 0;
}
