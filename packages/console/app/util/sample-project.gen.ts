/* Written by `npm run gen`. */

/** Files of the project that `platform init` writes, by path; {{name}} is in the place of its name. */
// oxfmt-ignore
export const SAMPLE_FILES: Readonly<Record<string, string>> = {
  ".platformignore": "# Files that are not part of a version, in gitignore syntax.\n# Never packed anyway: .git, virtual environments, .env, caches of Python and its tools.\n*.zip\n*.log\ndatapools/\n.idea/\n.vscode/\n",
  "README.md": "# {{name}}\n\nAdds up numbers. Replace this text by a description of your service; it is shown on the page of the\nservice.\n\n## Input\n\n`data.values`: list of numbers. `params.precision`: decimal places, default 2.\n\n## Result\n\n`sum`: the sum, rounded. `count`: number of values.\n\n## Commands\n\n    platform serve      # http://localhost:8081, with documentation at /docs\n    platform up         # deploy\n    platform run        # run with input/data.json and input/params.json\n",
  "input/data.json": "{\n  \"values\": [1, 2.5, 38.5]\n}\n",
  "input/params.json": "{\n  \"precision\": 2\n}\n",
  "platform.json": "{\n  \"name\": \"{{name}}\",\n  \"descriptionFile\": \"README.md\",\n  \"resources\": {\n    \"cpu\": 1,\n    \"memory\": 1\n  },\n  \"runtime\": \"PYTHON_TEMPLATE\"\n}\n",
  "requirements.txt": "# One requirement a line, for example: numpy==2.2.6\n",
  "src/__init__.py": "",
  "src/program.py": "\"\"\"The service: `run` is called once for each execution, in a fresh process.\"\"\"\n\nimport logging\n\nlogger = logging.getLogger(__name__)\n\n\ndef run(data: dict, params: dict) -> dict:\n    \"\"\"Adds up numbers.\n\n    `data` and `params` are the JSON objects of the request; the return value becomes the result.\n    \"\"\"\n    values = data.get(\"values\", [])\n    precision = params.get(\"precision\", 2)\n    logger.info(\"adding up %d values\", len(values))\n    return {\"sum\": round(sum(values), precision), \"count\": len(values)}\n",
};
