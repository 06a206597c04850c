//! The congestion controls as an enum. Each control is a variant, and each event is a function with
//! one `match`.

/// Generates the enum `Control` from the list of congestion controls and the signatures of their
/// events.
///
/// `algorithms` are the controls that only change the window. `tracked` controls also process
/// events of single segments, and determine when the next segment may be sent.
macro_rules! controls {
    (
        algorithms $algorithms:tt
        tracked $tracked:tt
        $( $event:ident $arguments:tt: $parameters:tt -> $answer:ty; )+
    ) => {
        controls! { @control $algorithms $tracked }

        /// Passes the events to the congestion control. `on_sent`, `on_delivered` and `on_lost` do
        /// nothing, because the sender passes events of single segments to
        /// [`Control::segment_events`].
        impl CongestionControl for Control {
            type PacketInfo = ();

            fn on_sent(&mut self, _: &mut Window, _: &Sent) {}

            fn on_delivered(&mut self, _: &mut Window, _: &Arrival, (): ()) {}

            fn on_lost(&mut self, _: &mut Window, _: Time, (): ()) {}

            fn earliest_departure(&self, now: Time) -> Time {
                now
            }

            controls! { @mode $algorithms $tracked }
            $( controls! {
                @event $algorithms $tracked $event $arguments $parameters -> $answer
            } )+
        }
    };
    (
        @control
        { $( $variant:ident($algorithm:ty) = |$settings:pat_param| $new:expr; )+ }
        { $( $tracked:ident($state:ty), )* }
    ) => {
        /// A congestion control. A state that is larger than a machine word is boxed, so that a
        /// NewReno sender stays small.
        #[derive(Clone, Debug)]
        enum Control {
            $( $variant($algorithm), )+
            External(Box<ExternalAlgorithm>),
            $( $tracked(Box<Tracked<$state>>), )*
        }

        impl Control {
            /// Creates the congestion control that the settings name.
            fn named(settings: &TcpSettings) -> Control {
                match settings.congestion {
                    $( CongestionAlgorithm::$variant => {
                        let $settings = settings;
                        Control::$variant($new)
                    } )+
                    CongestionAlgorithm::Bbr => {
                        let bbr = Bbr::new(settings.bbr, settings);
                        Control::Bbr(Tracked::new(bbr, settings.window_packets).into())
                    }
                    CongestionAlgorithm::External(_) => match &settings.external {
                        Some(external) => Control::External(external.algorithm().into()),
                        None => unreachable!("the settings of TCP include those of its control"),
                    },
                }
            }

            /// Returns whether the congestion control is tracked: it processes events of single
            /// segments.
            #[inline(always)]
            fn is_tracked(&self) -> bool {
                match self {
                    $( Control::$variant(_) => false, )+
                    Control::External(_) => false,
                    $( Control::$tracked(_) => true, )*
                }
            }

            /// Returns the congestion control as a receiver of events of single segments; `None` if
            /// it is not tracked.
            fn segment_events(&mut self) -> Option<&mut dyn SegmentEvents> {
                match self {
                    $( Control::$variant(_) => None, )+
                    Control::External(_) => None,
                    $( Control::$tracked(tracked) => Some(&mut **tracked), )*
                }
            }
        }
    };
    (
        @mode
        { $( $variant:ident $algorithm:tt = |$settings:pat_param| $new:expr; )+ }
        { $( $tracked:ident $state:tt, )* }
    ) => {
        fn recovery_mode(&self) -> RecoveryMode {
            match self {
                $( Control::$variant(control) => control.recovery_mode(), )+
                Control::External(control) => control.recovery_mode(),
                $( Control::$tracked(tracked) => tracked.control.recovery_mode(), )*
            }
        }
    };
    (
        @event
        { $( $variant:ident $algorithm:tt = |$settings:pat_param| $new:expr; )+ }
        { $( $tracked:ident $state:tt, )* }
        $event:ident $arguments:tt ($( $parameters:tt )+) -> $answer:ty
    ) => {
        #[inline(always)]
        fn $event(&mut self, $( $parameters )+) -> $answer {
            match self {
                $( Control::$variant(control) => control.$event $arguments, )+
                Control::External(control) => control.$event $arguments,
                $( Control::$tracked(tracked) => tracked.control.$event $arguments, )*
            }
        }
    };
}

pub(super) use controls;
