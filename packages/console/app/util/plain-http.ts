/** Whether what is sent to a URL can be read on the way: it is http, and leaves this host. */
export function isReadOnTheWay(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !LOOPBACK.test(hostname);
}

/** As `URL` writes hosts: addresses in four numbers, IPv6 in brackets, names in small letters. */
const LOOPBACK = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u;
