import type { ClientSubject, PackageFiles } from "./package-client.ts";

const PARTS = ["Data", "Params", "Output"] as const;

/** The files of a Java client that are not in every one; `pom` is that of the core. */
export function writeJavaFiles(subject: ClientSubject, pom: string): PackageFiles {
  const { names } = subject;
  const folder = `src/main/java/${names.javaPackage.replaceAll(".", "/")}`;
  return {
    "pom.xml": pom
      .replace(
        /<artifactId>platform-client<\/artifactId>(\s*)<version>[^<]*<\/version>/u,
        `<artifactId>${names.distribution}</artifactId>$1<version>${subject.version}</version>`,
      )
      .replace("<!-- main -->", `<mainClass>${names.javaPackage}.Example</mainClass>`),
    [`${folder}/${names.javaClass}.java`]: writeClient(subject),
    [`${folder}/Example.java`]: writeExample(subject),
  };
}

function writeClient({ names, models, endpoint }: ClientSubject): string {
  const { javaPackage, javaClass } = names;
  const typed = PARTS.filter((part) => models?.typed.includes(part));
  const types = PARTS.map((part) => (typed.includes(part) ? part : "Map<String, Object>"));
  const decode = typed.includes("Output") ? "Json.decodeAs(Output.class)" : "Json.decodeAsMap()";
  const imports = typed.map((part) => `import ${javaPackage}.models.${part};\n`).join("");
  return `package ${javaPackage};

import ${javaPackage}.core.Client;
import ${javaPackage}.core.Json;
import ${javaPackage}.core.Settings;
${imports}import java.util.Map;

/** Client of the service; the endpoint is that of the service unless another one is given. */
public class ${javaClass} extends Client<${types.join(", ")}> {
    private static final String ENDPOINT = ${JSON.stringify(endpoint)};

    /** With the key of the environment. */
    public ${javaClass}() {
        this(Settings.fromEnvironment());
    }

    /** With settings of your own. */
    public ${javaClass}(Settings settings) {
        super(settings.withDefaultEndpoint(ENDPOINT), ${decode});
    }
}
`;
}

function writeExample({ names }: ClientSubject): string {
  return `package ${names.javaPackage};

import ${names.javaPackage}.core.Json;
import ${names.javaPackage}.core.RunOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Runs the service with the input in the folder \`example\`. */
public final class Example {
    private Example() {}

    public static void main(String[] arguments) throws Exception {
        var data = Json.parse(Files.readString(Path.of("example", "data.json")));
        var params = Json.parse(Files.readString(Path.of("example", "params.json")));
        var client = new ${names.javaClass}();
        var result = client.runWith(data, params, RunOptions.within(Duration.ofMinutes(10)));
        System.out.println(Json.write(result.value()));
    }
}
`;
}
