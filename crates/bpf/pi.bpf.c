/* PI in front of a queue: packets are lost, or marked, before they enter it (pi.h says which). */
#include "packet.h"
#include "pi.h"

static long (*const set_ce)(void *skb) = (void *)97;

MAP(queue, ARRAY, 4, struct pi, 1, MAPPED);

SEC("classifier")
int control(struct __sk_buff *skb)
{
	u32 first = 0;
	struct pi *pi = lookup(&queue, &first);
	enum fate fate;

	if (!pi)
		return PASS;
	pi->offered++;
	fate = pi_judge(pi, backlog(skb), clock_ns(), random());
	if (fate == ENTER)
		return PASS;
	if (fate == MARK && set_ce(skb)) {
		pi->marked++;
		return PASS;
	}
	pi->lost++;
	return LOSE;
}

char terms[] SEC("license") = "Dual MIT/GPL";
