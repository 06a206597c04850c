//! A fixed program. `.ci/budget.py` compiles it and measures the CPU time, which is half of the unit for the limits of
//! `make test`. The content must not change, because the unit would change with it.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt::{Debug, Display};
use std::hash::Hash;

pub trait Stage {
    type Input;
    type Output;
    fn run(&mut self, input: Self::Input) -> Option<Self::Output>;
}

pub struct Chain<A, B>(pub A, pub B);

impl<A, B> Stage for Chain<A, B>
where
    A: Stage,
    B: Stage<Input = A::Output>,
{
    type Input = A::Input;
    type Output = B::Output;
    fn run(&mut self, input: Self::Input) -> Option<Self::Output> {
        self.1.run(self.0.run(input)?)
    }
}

pub struct Count<K>(pub HashMap<K, usize>);

impl<K: Hash + Eq + Clone> Stage for Count<K> {
    type Input = Vec<K>;
    type Output = Vec<(K, usize)>;
    fn run(&mut self, input: Vec<K>) -> Option<Vec<(K, usize)>> {
        for key in &input {
            *self.0.entry(key.clone()).or_insert(0) += 1;
        }
        Some(
            input
                .into_iter()
                .map(|key| (key.clone(), self.0[&key]))
                .collect(),
        )
    }
}

pub struct Order<K, V>(pub BTreeMap<K, V>);

impl<K: Ord + Clone, V: Copy + Ord> Stage for Order<K, V> {
    type Input = Vec<(K, V)>;
    type Output = VecDeque<(K, V)>;
    fn run(&mut self, input: Vec<(K, V)>) -> Option<VecDeque<(K, V)>> {
        self.0.extend(input);
        let mut out: Vec<_> = self
            .0
            .iter()
            .map(|(key, value)| (key.clone(), *value))
            .collect();
        out.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Some(out.into())
    }
}

pub struct Text<K, V>(pub std::marker::PhantomData<(K, V)>);

impl<K: Display + Debug, V: Display + Debug> Stage for Text<K, V> {
    type Input = VecDeque<(K, V)>;
    type Output = String;
    fn run(&mut self, input: VecDeque<(K, V)>) -> Option<String> {
        let mut out = String::new();
        for (index, (key, value)) in input.iter().enumerate() {
            out += &format!("{index:>4} {key:<12} {value:>8} {key:?} {value:?}\n");
        }
        (!out.is_empty()).then_some(out)
    }
}

macro_rules! chain {
    ($name:ident, $key:ty, $make:expr) => {
        pub fn $name(seed: u64) -> Option<String> {
            let mut state = seed;
            let keys: Vec<$key> = (0..1000)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    $make((state >> 33) as u32 % 100)
                })
                .collect();
            let mut stages = Chain(
                Chain(Count(HashMap::new()), Order(BTreeMap::new())),
                Text(std::marker::PhantomData),
            );
            stages.run(keys)
        }
    };
}

chain!(of_texts, String, |x: u32| x.to_string());
