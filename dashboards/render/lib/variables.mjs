// Dashboard variables: their values from Prometheus, and their substitution in text.

/**
 * @typedef {object} Variable
 * @property {string} name
 * @property {string} label  what the variable bar shows before the value
 * @property {string} text   what the variable bar shows as the value
 * @property {boolean} hide
 * @property {boolean} multi whether the value stands in a regular expression
 * @property {string[]} values
 * @property {string} [all]  what to put for "All" instead of all values
 */

const ALL = '$__all';

/** Resolves the variables in order: a later one may use an earlier one. @returns {Promise<Variable[]>} */
export async function resolveVariables(dashboard, prometheus, range, builtin) {
  const variables = [];
  for (const v of dashboard.templating?.list ?? []) {
    const options = await optionsOf(v, prometheus, range, (s) => substitute(s, variables, builtin));
    variables.push(choose(v, options));
  }
  return variables;
}

async function optionsOf(v, prometheus, range, replace) {
  switch (v.type) {
    case 'datasource':
      return [v.query === 'prometheus' ? 'Prometheus' : 'Pyroscope'];
    case 'constant':
    case 'textbox':
      return [v.current?.value ?? v.query ?? ''];
    case 'custom':
    case 'interval':
      return v.query.split(',').map((s) => s.trim());
    case 'query': {
      const text = replace(typeof v.query === 'string' ? v.query : v.query.query);
      const call = /^label_values\((?:(.+),)?\s*([A-Za-z_][A-Za-z0-9_]*)\s*\)$/.exec(text.trim());
      if (!call) {
        throw new Error(`variable ${v.name}: only label_values() is known, not ${text}`);
      }
      return filter(await prometheus.labelValues(call[2], call[1]?.trim(), range), v.regex);
    }
    default:
      throw new Error(`variable ${v.name}: type ${v.type} is not known`);
  }
}

function filter(values, regex) {
  if (!regex) {
    return values;
  }
  const parts = /^\/(.*)\/([a-z]*)$/.exec(regex);
  const re = parts ? new RegExp(parts[1], parts[2]) : new RegExp(`^${regex}$`);
  return values.flatMap((s) => {
    const found = re.exec(s);
    return found ? [found[1] ?? s] : [];
  });
}

function choose(v, options) {
  const current = [v.current?.value ?? []].flat().filter((s) => s !== '');
  const all = v.includeAll && (current.length === 0 || current.includes(ALL));
  const kept = current.filter((s) => options.includes(s));
  const values = all ? options : kept.length > 0 ? kept : options.slice(0, 1);
  return {
    name: v.name,
    label: v.label || v.name,
    text: all ? 'All' : values.join(' + '),
    hide: v.hide === 2 || v.hide === 'hideVariable',
    multi: Boolean(v.multi || v.includeAll),
    values,
    all: all && v.allValue ? v.allValue : undefined,
  };
}

const escapeRegex = (s) => s.replace(/[\\^$.*+?()[\]{}|]/g, '\\\\$&');

function format(variable, how) {
  if (variable.all !== undefined) {
    return variable.all;
  }
  switch (how) {
    case 'raw':
    case 'csv':
      return variable.values.join(',');
    case 'pipe':
      return variable.values.join('|');
    case 'text':
      return variable.text;
    default: {
      const values = variable.multi || how === 'regex' ? variable.values.map(escapeRegex) : variable.values;
      return values.length === 1 ? values[0] : `(${values.join('|')})`;
    }
  }
}

/** Replaces $name, ${name}, ${name:format} and [[name]]; an unknown name stays, so that Prometheus complains of it. */
export function substitute(text, variables, builtin) {
  return text.replace(/\$(\w+)|\$\{(\w+)(?::(\w+))?\}|\[\[(\w+)\]\]/g, (whole, a, b, how, c) => {
    const name = a ?? b ?? c;
    if (name in builtin) {
      return builtin[name];
    }
    const variable = variables.find((v) => v.name === name);
    return variable ? format(variable, how) : whole;
  });
}
