//! A TCP proxy between one mirror and the server, whose connections come to harm when told to.

use std::future::pending;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

/// The most that is carried at once.
const PIECE: usize = 16 << 10;

/// A listening proxy. Dropping it ends it with all its connections.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

/// What may happen to a connection.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    End(Ending),
    /// Its ending comes after so many bytes more from the server.
    Cut(usize, Ending),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A FIN, without the goodbye of TLS.
    Close,
    Reset,
    /// It stays open; whatever is sent is acknowledged and goes nowhere.
    HalfOpen,
}

/// What becomes of new connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    Open,
    /// They are reset.
    Shut,
    /// They are half-open from the start.
    Deaf,
}

#[derive(Debug)]
struct Shared {
    upstream: u16,
    state: Mutex<State>,
    open: AtomicUsize,
}

#[derive(Debug)]
struct State {
    /// One for each connection that is still carried.
    orders: Vec<UnboundedSender<Order>>,
    /// Each piece is held up for so long until then.
    delay: (Duration, Instant),
    door: (Door, Instant),
}

impl Proxy {
    /// A proxy on a free port of the loopback address.
    pub async fn start(upstream: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("bind a free port");
        let port = listener.local_addr().expect("a bound listener").port();
        let now = Instant::now();
        let state = State { orders: Vec::new(), delay: (Duration::ZERO, now), door: (Door::Open, now) };
        let shared = Arc::new(Shared { upstream, state: Mutex::new(state), open: AtomicUsize::new(0) });
        let task = tokio::spawn(listen(listener, shared.clone()));
        Self { port, shared, task }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Connections that the mirror holds open, whatever has become of them.
    pub fn open(&self) -> usize {
        self.shared.open.load(Ordering::Relaxed)
    }

    /// Tells every connection, and says how many there were.
    pub fn order(&self, order: Order) -> usize {
        let mut state = self.shared.state();
        state.orders.retain(|connection| connection.send(order).is_ok());
        state.orders.len()
    }

    /// Holds up each piece of the connections for so long, for a while.
    pub fn delay(&self, each: Duration, lasts: Duration) {
        self.shared.state().delay = (each, Instant::now() + lasts);
    }

    /// What becomes of new connections, for a while.
    pub fn door(&self, door: Door, lasts: Duration) {
        self.shared.state().door = (door, Instant::now() + lasts);
    }

    /// From now on it only carries. What is half-open stays so.
    pub fn calm(&self) {
        self.delay(Duration::ZERO, Duration::ZERO);
        self.door(Door::Open, Duration::ZERO);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
        self.order(Order::End(Ending::Reset));
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn present_door(&self) -> Door {
        let (door, until) = self.state().door;
        if Instant::now() < until { door } else { Door::Open }
    }

    fn present_delay(&self) -> Duration {
        let (delay, until) = self.state().delay;
        if Instant::now() < until { delay } else { Duration::ZERO }
    }
}

async fn listen(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((client, _)) = listener.accept().await else { continue };
        let shared = shared.clone();
        shared.open.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            let mut client = client;
            let ending = match shared.present_door() {
                Door::Open => connect_and_carry(&mut client, &shared).await,
                Door::Shut => Ending::Reset,
                Door::Deaf => Ending::HalfOpen,
            };
            end(client, ending).await;
            shared.open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

async fn end(mut client: TcpStream, ending: Ending) {
    match ending {
        Ending::Close => {}
        Ending::Reset => client.set_zero_linger().unwrap_or(()),
        Ending::HalfOpen => drop(tokio::io::copy(&mut client, &mut tokio::io::sink()).await),
    }
}

/// How the connection to the client is to end, once it is over.
async fn connect_and_carry(client: &mut TcpStream, shared: &Shared) -> Ending {
    let Ok(mut server) = TcpStream::connect(("127.0.0.1", shared.upstream)).await else { return Ending::Reset };
    let (sender, mut orders) = unbounded_channel();
    shared.state().orders.push(sender);
    // Small pieces are passed on as they come.
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let left = Left::default();
    let ending = {
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.split();
        tokio::select! {
            ending = obey(&mut orders, &left) => ending,
            ending = pump(from_client, to_server, shared, None) => ending,
            ending = pump(from_server, to_client, shared, Some(&left)) => ending,
        }
    };
    if ending != Ending::Close {
        let _ = server.set_zero_linger();
    }
    ending
}

/// How many bytes the server may still send, and what comes then.
#[derive(Debug, Default)]
struct Left(Mutex<Option<(usize, Ending)>>);

impl Left {
    fn limit(&self, bytes: usize, ending: Ending) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((bytes, ending));
    }

    /// How much of a piece may pass, and the ending if that was all.
    fn take(&self, piece: usize) -> (usize, Option<Ending>) {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some((left, ending)) if *left <= piece => (*left, Some(*ending)),
            Some((left, _)) => {
                *left -= piece;
                (piece, None)
            }
            None => (piece, None),
        }
    }
}

async fn obey(orders: &mut UnboundedReceiver<Order>, left: &Left) -> Ending {
    loop {
        match orders.recv().await {
            Some(Order::End(ending)) => return ending,
            Some(Order::Cut(bytes, ending)) => left.limit(bytes, ending),
            None => pending::<()>().await,
        }
    }
}

/// Carries one direction until it ends, as the other end of it did.
async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    shared: &Shared,
    left: Option<&Left>,
) -> Ending {
    let mut piece = vec![0; PIECE];
    let carry = async {
        loop {
            let read = from.read(&mut piece).await?;
            if read == 0 {
                return io::Result::Ok(Ending::Close);
            }
            let delay = shared.present_delay();
            if !delay.is_zero() {
                sleep(delay).await;
            }
            let (passes, ending) = left.map_or((read, None), |left| left.take(read));
            to.write_all(&piece[..passes]).await?;
            if let Some(ending) = ending {
                return Ok(ending);
            }
        }
    };
    carry.await.unwrap_or(Ending::Reset)
}
