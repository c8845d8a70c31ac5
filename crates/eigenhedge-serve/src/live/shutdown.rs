//! The shutdown signal, which every open connection watches.

use tokio::sync::watch;

#[derive(Debug)]
pub struct ShutdownSwitch(watch::Sender<bool>);

#[derive(Debug, Clone)]
pub struct Shutdown(watch::Receiver<bool>);

impl ShutdownSwitch {
    pub fn new() -> (Self, Shutdown) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), Shutdown(receiver))
    }

    /// Sends the signal. Dropping the switch also sends it.
    pub fn pull(&self) {
        self.0.send_replace(true);
    }
}

impl Shutdown {
    pub async fn wait(&mut self) {
        // An error means that the switch was dropped, which also counts as the signal.
        let _ = self.0.wait_for(|is_pulled| *is_pulled).await;
    }

    pub fn is_pulled(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }
}
