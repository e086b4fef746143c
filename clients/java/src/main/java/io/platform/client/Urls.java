package io.platform.client;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the URLs of requests are made of. */
final class Urls {
    private static final Pattern NEXT = Pattern.compile("<([^>]*)>[^,]*rel=\"?next");
    private static final Set<String> NO_NAMES = Set.of("", ".", "..");

    private Urls() {}

    /** The URL without final slashes; it is not shown where it is wrong, it may have a password. */
    static String check(String url, String name) {
        if (!isKnown(url)) {
            throw new IllegalArgumentException(
                    name + " has to be a URL such as https://host/path, with no user, query or fragment.");
        }
        return url.replaceFirst("/+$", "");
    }

    private static boolean isKnown(String url) {
        if (!url.matches("(?i)https?://[^/@?#\\\\][!-~&&[^@?#\\\\]]*")) return false;
        try {
            URI parts = new URI(url);
            return parts.getHost() != null && parts.getPort() <= 65_535;
        } catch (URISyntaxException error) {
            return false;
        }
    }

    /** The path of these names: none may be missing, or lead to another path than it says. */
    static String path(String... names) {
        StringBuilder path = new StringBuilder();
        for (String name : names) {
            if (name == null || NO_NAMES.contains(name)) {
                throw new IllegalArgumentException("An id or the name of a file is needed, not \"" + name + "\".");
            }
            path.append('/').append(encode(name));
        }
        return path.toString();
    }

    static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static String decode(String text) {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException error) {
            // As it is: the server will say what it makes of it.
            return text;
        }
    }

    /** The cursor of the next page that a `Link` header names, or null. */
    static String readCursor(String link) {
        Matcher found = NEXT.matcher(link);
        if (!found.find()) return null;
        for (String pair : found.group(1).replaceFirst("^[^?]*\\??", "").split("&")) {
            if (pair.startsWith("cursor=")) return decode(pair.substring(7));
        }
        return null;
    }
}
