//! Three lists of flow queues, each in the order of service. A queue is in at most one list, and
//! can leave a list from any place.

/// A list of flow queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// Queues that became busy and have not used up their first quantum.
    New,
    /// Queues in the bulk rotation.
    Old,
    /// Empty queues whose AQM state decays.
    Decaying,
}

/// The lists of flow queues of one tin, as rings of indices. The last three places are the heads of
/// the lists.
#[derive(Clone, Debug, Default)]
pub(super) struct Chain {
    /// Previous and next place of each place.
    neighbours: Vec<[u16; 2]>,
}

impl Chain {
    /// Returns empty lists of `queues` queues.
    pub(super) fn new(queues: u16) -> Chain {
        Chain {
            neighbours: (0..queues + 3).map(|place| [place, place]).collect(),
        }
    }

    fn head(&self, list: List) -> u16 {
        self.neighbours.len() as u16 - 3 + list as u16
    }

    /// Returns the first queue of `list`.
    #[inline]
    pub(super) fn first(&self, list: List) -> Option<u16> {
        let head = self.head(list);
        let [_, first] = self.neighbours[usize::from(head)];
        (first != head).then_some(first)
    }

    /// Removes `queue` from its list, if it is in a list.
    pub(super) fn remove(&mut self, queue: u16) {
        let [before, after] = self.neighbours[usize::from(queue)];
        self.neighbours[usize::from(before)][1] = after;
        self.neighbours[usize::from(after)][0] = before;
        self.neighbours[usize::from(queue)] = [queue, queue];
    }

    /// Moves `queue` to the end of `list`.
    pub(super) fn move_to(&mut self, list: List, queue: u16) {
        self.remove(queue);
        let head = self.head(list);
        let [last, _] = self.neighbours[usize::from(head)];
        self.neighbours[usize::from(queue)] = [last, head];
        self.neighbours[usize::from(last)][1] = queue;
        self.neighbours[usize::from(head)][0] = queue;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_leaves_its_list_from_any_place() {
        let mut chain = Chain::new(5);
        (0..4).for_each(|queue| chain.move_to(List::Decaying, queue));
        chain.move_to(List::New, 2);
        chain.remove(0);
        chain.remove(0);
        let mut order = Vec::new();
        while let Some(queue) = chain.first(List::Decaying) {
            order.push(queue);
            chain.remove(queue);
        }
        assert_eq!((order, chain.first(List::New)), (vec![1, 3], Some(2)));
        assert_eq!(chain.first(List::Old), None);
    }
}
