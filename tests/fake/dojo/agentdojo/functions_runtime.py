"""What the driver needs of AgentDojo's module of this name."""


class FunctionCall:
    def __init__(self, function, args):
        self.function, self.args = function, args


class Parameters:
    def __init__(self, **types):
        self.types = types

    def model_json_schema(self):
        properties = {name: {"type": kind} for name, kind in self.types.items()}
        return {"type": "object", "properties": properties, "required": list(self.types)}


class Function:
    def __init__(self, name, description, run, **types):
        self.name, self.description, self.run, self.parameters = name, description, run, Parameters(**types)


class FunctionsRuntime:
    def __init__(self, functions):
        self.functions = {function.name: function for function in functions}

    def run_function(self, environment, name, args):
        try:
            return self.functions[name].run(environment, **args), None
        except Exception as error:
            return "", f"{type(error).__name__}: {error}"
