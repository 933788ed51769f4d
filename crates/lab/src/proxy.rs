//! The proxy that a plan goes through: it leads to what is served inside the container's network, and nowhere else.

use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, Shutdown, TcpStream};

use bringup_plan::Plan;

/// The proxies that a plan names, without the names and passwords that they want.
pub(crate) fn of(plan: &Plan) -> Vec<String> {
    let is_one = |name: &str| ["http_proxy", "https_proxy"].contains(&name.to_lowercase().as_str());
    let named = plan.environment.iter().filter(|(name, _)| is_one(name)).map(|(_, value)| {
        let place = value.rsplit('@').next().unwrap_or_default();
        format!("http://{}", place.split_once("://").map_or(place, |(_, place)| place))
    });
    let mut proxies: Vec<String> = named.collect();
    proxies.sort();
    proxies.dedup();
    proxies
}

/// What is asked for at its host: whoever asks a proxy without being led on names the whole address.
pub(crate) fn path(asked: &str) -> &str {
    let Some(rest) = asked.strip_prefix("http://") else { return asked };
    rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/")
}

/// Leads a connection on to a host and its port. Hosts with names are this very machine.
pub(crate) fn lead(mut client: TcpStream, target: &str) {
    let Some(server) = connected(target) else {
        let _ = client.write_all(b"HTTP/1.1 502 Lab\r\nContent-Length: 0\r\n\r\n");
        return;
    };
    if client.write_all(b"HTTP/1.1 200 Lab\r\n\r\n").is_err() {
        return;
    }
    let (Ok(from_client), Ok(to_server)) = (client.try_clone(), server.try_clone()) else { return };
    std::thread::spawn(move || passed(from_client, to_server));
    passed(server, client);
}

fn connected(target: &str) -> Option<TcpStream> {
    let (host, port) = target.rsplit_once(':')?;
    let address = host.parse().unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    TcpStream::connect((address, port.parse().ok()?)).ok()
}

fn passed(mut from: TcpStream, mut to: TcpStream) {
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn a_whole_address_is_one_of_a_path() {
        assert_eq!(path("/a?b"), "/a?b");
        assert_eq!(path("http://mirror.example:8080/a?b"), "/a?b");
        assert_eq!(path("http://mirror.example"), "/");
        assert_eq!(path("tools.example:443"), "tools.example:443");
    }
}
