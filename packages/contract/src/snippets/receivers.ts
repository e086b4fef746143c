/*
 * Receivers of webhooks: small servers that verify the signature of each message (Standard Webhooks, HMAC-SHA256) before
 * they believe it. The secret comes from WEBHOOK_SECRET; with two signatures, as after a new secret, one has to be right.
 * Anybody can connect to them: who goes away, or says nothing, keeps none from being received, and of no body more is
 * read than a message has.
 */

/** Seconds that a message may be old, so that a recorded one is of no use later. */
const TOLERANCE = 300;
const PORT = 8000;
/** Bytes of a body that are read: a message has some hundred, and is told apart only when all of it is there. */
const MOST = 1_000_000;

/** The receiver as a program of Python 3 with its standard library. */
export function toReceiverPython(): string {
  return `import base64, hashlib, hmac, os, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

key = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))

def verify(headers, body):
    at = headers.get("webhook-timestamp", "")
    if not at.isdecimal() or abs(time.time() - int(at)) > ${TOLERANCE}:
        return False
    signed = f'{headers.get("webhook-id", "")}.{at}.'.encode() + body
    made = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    given = headers.get("webhook-signature", "").encode().split()
    return any([hmac.compare_digest(made, one) for one in given])

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > ${MOST}:
            return self.send_error(413)
        body = self.rfile.read(int(length))
        is_genuine = verify(self.headers, body)
        self.send_response(204 if is_genuine else 403)
        self.end_headers()
        if is_genuine:
            sys.stdout.buffer.write(body + b"\\n")
            sys.stdout.flush()

ThreadingHTTPServer(("", int(os.environ.get("PORT", ${PORT}))), Receiver).serve_forever()`;
}

/** The receiver as a module of Node.js 18 or newer. */
export function toReceiverJavaScript(): string {
  return `import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const key = Buffer.from(process.env.WEBHOOK_SECRET.replace("whsec_", ""), "base64");

function verify(headers, body) {
  const at = headers["webhook-timestamp"] ?? "";
  if (!/^\\d+$/.test(at) || Math.abs(Date.now() / 1000 - Number(at)) > ${TOLERANCE}) return false;
  const made = createHmac("sha256", key).update(headers["webhook-id"] + "." + at + ".").update(body).digest();
  return (headers["webhook-signature"] ?? "").split(" ").some((one) => {
    const given = one.startsWith("v1,") ? Buffer.from(one.slice(3), "base64") : Buffer.alloc(0);
    return given.length === made.length && timingSafeEqual(given, made);
  });
}

async function receive(request, response) {
  let body = Buffer.alloc(0);
  for await (const part of request) {
    body = Buffer.concat([body, part]);
    if (body.length > ${MOST}) return response.writeHead(413, { Connection: "close" }).end();
  }
  const isGenuine = verify(request.headers, body);
  response.writeHead(isGenuine ? 204 : 403).end();
  if (isGenuine) console.log(body.toString());
}

const server = createServer((request, response) => {
  receive(request, response).catch((error) => console.error(error.message));
});
server.listen(process.env.PORT ?? ${PORT});`;
}

/** The receiver as a program of Java 17 or newer with its standard library: `java Receiver.java`. */
export function toReceiverJava(): string {
  return `import com.sun.net.httpserver.*;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.util.*;
import java.util.concurrent.Executors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Receiver {
  static String read(Headers headers, String name) {
    return headers.getFirst(name) == null ? "" : headers.getFirst(name);
  }

  static boolean verify(Headers headers, byte[] body) throws Exception {
    var at = read(headers, "webhook-timestamp");
    if (!at.matches("[0-9]{1,12}")) return false;
    if (Math.abs(System.currentTimeMillis() / 1000 - Long.parseLong(at)) > ${TOLERANCE}) return false;
    var secret = System.getenv("WEBHOOK_SECRET").replace("whsec_", "");
    var mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret), "HmacSHA256"));
    mac.update((read(headers, "webhook-id") + "." + at + ".").getBytes("UTF-8"));
    var made = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes("UTF-8");
    boolean isGenuine = false;
    for (var one : read(headers, "webhook-signature").split(" "))
      isGenuine |= MessageDigest.isEqual(made, one.getBytes("UTF-8"));
    return isGenuine;
  }

  static void answer(HttpExchange exchange) throws java.io.IOException {
    try (exchange) {
      var body = exchange.getRequestBody().readNBytes(${MOST} + 1);
      boolean isGenuine = body.length <= ${MOST} && verify(exchange.getRequestHeaders(), body);
      exchange.sendResponseHeaders(isGenuine ? 204 : 403, -1);
      if (isGenuine) System.out.writeBytes(body);
      if (isGenuine) System.out.println();
    } catch (Exception error) {
      throw new java.io.IOException(error);
    }
  }

  public static void main(String[] arguments) throws Exception {
    int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "${PORT}"));
    var server = HttpServer.create(new InetSocketAddress(port), 0);
    server.createContext("/", Receiver::answer);
    server.setExecutor(Executors.newCachedThreadPool());
    server.start();
  }
}`;
}
