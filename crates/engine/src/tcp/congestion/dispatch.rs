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
        /// nothing, because the sender passes events of single segments to `on_segment_sent` and
        /// the functions after it.
        impl CongestionControl for Control {
            type PacketInfo = ();

            fn on_sent(&mut self, _: &mut Window, _: &Sent) {}

            fn on_delivered(&mut self, _: &mut Window, _: &Arrival, (): ()) {}

            fn on_lost(&mut self, _: &mut Window, _: &Lost, (): ()) {}

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
                    CongestionAlgorithm::Bbr3 => {
                        let bbr = Bbr3::new(settings.bbr3, settings);
                        Control::Bbr3(Tracked::new(bbr, settings.window_packets).into())
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

            /// Returns whether the congestion control is tracked and processes the arrivals of
            /// segments ([`CongestionControl::follows_arrivals`]).
            #[inline(always)]
            fn follows_arrivals(&self) -> bool {
                match self {
                    $( Control::$variant(_) => false, )+
                    Control::External(_) => false,
                    $( Control::$tracked(tracked) => tracked.control.follows_arrivals(), )*
                }
            }

            controls! { @segment_events [ $( $tracked )* ]
                /// Processes the transmission of a segment.
                on_segment_sent => on_sent(window: &mut Window, sent: &Sent);

                /// Processes an ACK that acknowledges all segments before `next`, with its SACK
                /// blocks.
                on_segments_delivered =>
                    on_delivered(window: &mut Window, now: Time, next: u32, blocks: &Blocks);

                /// Processes the end of the processing of an ACK.
                after_ack => on_ack_processed(window: &mut Window, state: &Processed);

                /// Processes the end of the processing of a retransmission timeout.
                after_timeout => on_timeout_processed(window: &mut Window, state: &Processed);

                /// Processes a pause of the application.
                after_pause => on_app_limited(in_flight: u32);

                /// Processes the undo of a recovery.
                after_undo => on_undo(window: &mut Window);

                /// Processes a sign of congestion that is not the loss of a known transmission.
                after_sign => on_sign(window: &mut Window);

                /// Processes losses: `numbers` were declared lost at `now`. The loss recovery is then
                /// in the phase `phase`.
                on_segments_lost =>
                    on_lost(window: &mut Window, now: Time, phase: RecoveryPhase, numbers: &[u32]);
            }

            /// Returns the time at which the next segment may be sent.
            #[inline(always)]
            fn departure(&self, now: Time) -> Time {
                match self {
                    $( Control::$variant(_) => now, )+
                    Control::External(_) => now,
                    $( Control::$tracked(tracked) => tracked.control.earliest_departure(now), )*
                }
            }
        }
    };
    // only tracked controls process the events of single segments
    (
        @segment_events $tracked:tt
        $( $( #[$doc:meta] )* $event:ident => $method:ident
            ( $( $name:ident: $type:ty ),* ); )+
    ) => {
        $( controls! {
            @segment_event $tracked [ $( #[$doc] )* ]
            $event $method ( $( $name, )* ) ( $( $name: $type, )* )
        } )+
    };
    (
        @segment_event [ $( $tracked:ident )* ] [ $( #[$doc:meta] )* ]
        $event:ident $method:ident $arguments:tt ( $( $parameters:tt )* )
    ) => {
        $( #[$doc] )*
        #[inline(always)]
        fn $event(&mut self, $( $parameters )*) {
            match self {
                $( Control::$tracked(tracked) => tracked.$method $arguments, )*
                _ => {}
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
