//! Plain HTTP/1.1: one route is one tool, its arguments are the body.

use nottwice_model::history::Why;
use serde_json::Value;

use crate::cut::Cut;
use crate::http1::Base;
use crate::socket::Socket;
use crate::transport::{Later, Link, Lost, Reply, Request};

/// One connection; it carries one attempt at a time.
pub(crate) struct HttpLink {
    number: u32,
    socket: Socket,
}

impl HttpLink {
    /// Connects. `base` is `http://HOST:PORT` with an optional path before every route.
    pub(crate) async fn connect(number: u32, base: &str) -> std::io::Result<HttpLink> {
        let Base { authority, path } = Base::of(base);
        let base = Base { authority, path: path.trim_end_matches('/').to_owned() };
        Ok(HttpLink { number, socket: Socket::connect(base).await? })
    }

    /// One request of the harness's own, with its whole answer.
    pub(crate) async fn get(&self, path: &str) -> Result<Reply, Lost> {
        let base = self.socket.base();
        let head = format!("GET {}{path} HTTP/1.1\r\nHost: {}\r\n\r\n", base.path, base.authority);
        self.write(head.as_bytes()).await.map_err(|_| Lost::new(Why::NoReply))?;
        self.read(0).await
    }
}

impl Link for HttpLink {
    fn number(&self) -> u32 {
        self.number
    }

    fn encode(&self, request: &Request) -> Vec<u8> {
        let body = match &request.arguments {
            Value::Null => String::new(),
            arguments => arguments.to_string(),
        };
        let base = self.socket.base();
        let mut head = format!(
            "{} {}{} HTTP/1.1\r\nHost: {}\r\nAccept: application/json\r\n",
            request.tool.method, base.path, request.tool.path, base.authority
        );
        for (name, value) in &request.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len()));
        (head + &body).into_bytes()
    }

    fn expect(&self, _id: u64) {
        self.socket.occupy();
    }

    fn write<'a>(&'a self, bytes: &'a [u8]) -> Later<'a, std::io::Result<()>> {
        Box::pin(self.socket.write(bytes))
    }

    fn begun(&self, _id: u64) -> Later<'_, Result<(), Lost>> {
        Box::pin(self.socket.begun())
    }

    fn read(&self, _id: u64) -> Later<'_, Result<Reply, Lost>> {
        Box::pin(async move {
            let (bytes, message) = self.socket.read(|_| false).await?;
            Ok(Reply { bytes, document: message.document() })
        })
    }

    fn read_until(&self, _id: u64, cut: Cut) -> Later<'_, Result<Option<Vec<u8>>, Lost>> {
        Box::pin(self.socket.read_until(cut, |_| None))
    }

    fn give_up(&self) -> Later<'_, ()> {
        self.close()
    }

    fn close(&self) -> Later<'_, ()> {
        Box::pin(self.socket.close())
    }

    fn half_close(&self) -> Later<'_, std::io::Result<()>> {
        Box::pin(self.socket.half_close())
    }

    fn reset(&self) -> Later<'_, std::io::Result<()>> {
        Box::pin(self.socket.reset())
    }

    fn is_free(&self) -> bool {
        self.socket.is_free()
    }
}
