//! The end of the program, seen by every open connection.

use tokio::sync::watch;

/// Ends what watches it.
#[derive(Debug)]
pub struct ShutdownSwitch(watch::Sender<bool>);

/// Tells when the program ends.
#[derive(Debug, Clone)]
pub struct Shutdown(watch::Receiver<bool>);

impl ShutdownSwitch {
    /// A switch, and what watches it.
    pub fn new() -> (Self, Shutdown) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), Shutdown(receiver))
    }

    /// Ends everything that watches. So does dropping the switch.
    pub fn pull(&self) {
        self.0.send_replace(true);
    }
}

impl Shutdown {
    /// Waits for the end.
    pub async fn wait(&mut self) {
        // The switch is gone: that is the end too.
        let _ = self.0.wait_for(|is_pulled| *is_pulled).await;
    }

    /// True if it is the end.
    pub fn is_pulled(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }
}
