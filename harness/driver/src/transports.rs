//! The list of transports.

pub(crate) mod http;
pub(crate) mod mcp_http;
pub(crate) mod mcp_stdio;
