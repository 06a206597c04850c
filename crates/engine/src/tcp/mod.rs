//! TCP endpoints as pure state machines: no clock, no socket, no queue inside.
