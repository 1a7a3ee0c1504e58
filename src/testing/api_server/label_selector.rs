//! Label selectors.

use serde_json::Value;

/// Requirements on labels; an object must meet all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LabelSelector {
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    operator: Operator,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operator {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    DoesNotExist,
    Above(i64),
    Below(i64),
}

impl LabelSelector {
    /// # Errors
    ///
    /// The text of the server's parser.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut tokens = Tokens { tokens: lex(text), next: 0 };
        let mut requirements = Vec::new();
        loop {
            match tokens.peek() {
                None if requirements.is_empty() => break,
                Some(t) if t == "!" || is_name(&t) => requirements.push(tokens.requirement()?),
                other => {
                    return Err(format!(
                        "found '{}', expected: !, identifier, or 'end of string'",
                        other.unwrap_or_default()
                    ));
                }
            }
            match tokens.take() {
                None => break,
                Some(t) if t == "," => {
                    if !tokens.peek().is_some_and(|t| t == "!" || is_name(&t)) {
                        let found = tokens.peek().unwrap_or_default();
                        return Err(format!("found '{found}', expected: identifier after ','"));
                    }
                }
                Some(t) => return Err(format!("found '{t}', expected: ',' or 'end of string'")),
            }
        }
        Ok(Self { requirements })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    pub(super) fn matches(&self, object: &Value) -> bool {
        let labels = &object["metadata"]["labels"];
        self.requirements.iter().all(|requirement| {
            let value = labels.get(&requirement.key).and_then(Value::as_str);
            let number = value.and_then(|value| value.parse::<i64>().ok());
            match &requirement.operator {
                Operator::In(values) => value.is_some_and(|value| values.iter().any(|v| v == value)),
                Operator::NotIn(values) => value.is_none_or(|value| values.iter().all(|v| v != value)),
                Operator::Exists => value.is_some(),
                Operator::DoesNotExist => value.is_none(),
                Operator::Above(bound) => number.is_some_and(|n| n > *bound),
                Operator::Below(bound) => number.is_some_and(|n| n < *bound),
            }
        })
    }
}

struct Tokens {
    tokens: Vec<String>,
    next: usize,
}

impl Tokens {
    fn peek(&self) -> Option<String> {
        self.tokens.get(self.next).cloned()
    }

    fn take(&mut self) -> Option<String> {
        let token = self.peek();
        self.next += 1;
        token
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let refuse = |why: &str| format!("unable to parse requirement: {why}");
        let not_a_number = |_| refuse("for 'Gt', 'Lt' operators, the value must be an integer");
        let first = self.take().unwrap_or_default();
        if first == "!" {
            let key = self.take().unwrap_or_default();
            return Ok(Requirement { key, operator: Operator::DoesNotExist });
        }
        let operator = match self.peek().as_deref() {
            None | Some(",") => Operator::Exists,
            Some("in") => {
                self.next += 1;
                Operator::In(self.set()?)
            }
            Some("notin") => {
                self.next += 1;
                Operator::NotIn(self.set()?)
            }
            Some("=" | "==") => {
                self.next += 1;
                Operator::In(vec![self.exact()?])
            }
            Some("!=") => {
                self.next += 1;
                Operator::NotIn(vec![self.exact()?])
            }
            Some(">") => {
                self.next += 1;
                Operator::Above(self.exact()?.parse().map_err(not_a_number)?)
            }
            Some("<") => {
                self.next += 1;
                Operator::Below(self.exact()?.parse().map_err(not_a_number)?)
            }
            Some(found) => {
                return Err(refuse(&format!("found '{found}', expected: in, notin, =, ==, !=, gt, lt")));
            }
        };
        Ok(Requirement { key: first, operator })
    }

    fn exact(&mut self) -> Result<String, String> {
        match self.peek() {
            Some(t) if is_name(&t) || t == "in" || t == "notin" => Ok(self.take().unwrap_or_default()),
            None => Ok(String::new()),
            Some(t) if t == "," => Ok(String::new()),
            Some(found) => Err(format!("unable to parse requirement: found '{found}', expected: identifier")),
        }
    }

    fn set(&mut self) -> Result<Vec<String>, String> {
        let found = self.take().unwrap_or_default();
        if found != "(" {
            return Err(format!("unable to parse requirement: found '{found}' expected: '('"));
        }
        let mut values = vec![String::new()];
        loop {
            match self.take().as_deref() {
                Some(")") => return Ok(values),
                Some(",") => values.push(String::new()),
                Some(value) if value != "(" => {
                    if let Some(last) = values.last_mut() {
                        value.clone_into(last);
                    }
                }
                found => {
                    let found = found.unwrap_or_default();
                    return Err(format!(
                        "unable to parse requirement: found '{found}', expected: ',', ')' or identifier"
                    ));
                }
            }
        }
    }
}

fn is_name(token: &str) -> bool {
    !token.starts_with(['(', ')', ',', '!', '=', '<', '>'])
}

fn lex(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut open = false;
    for c in text.chars() {
        if c.is_whitespace() {
            open = false;
        } else if matches!(c, '(' | ')' | ',' | '!' | '=' | '<' | '>') {
            match tokens.last_mut() {
                Some(last) if c == '=' && open && (last == "=" || last == "!") => last.push(c),
                _ => tokens.push(c.to_string()),
            }
            open = matches!(c, '=' | '!');
            continue;
        } else {
            match tokens.last_mut() {
                Some(last) if open && is_name(last) => last.push(c),
                _ => tokens.push(c.to_string()),
            }
            open = true;
        }
    }
    tokens
}
